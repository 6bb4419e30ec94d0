/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUEUE_POLICY_H
#define COSIM_QUEUE_POLICY_H

#include "network/live-links.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/// The egress queue of a link, as a queue policy sees it.
class EgressQueue
{
  public:
    virtual ~EgressQueue() = default;

    /// Report to the policy all packets that have left the queue by now.
    virtual void Update() = 0;
};

/**
 * Decides which packets enter the egress queue of a link, and which of them are marked with CE (RFC
 * 3168).
 *
 * The packet in transmission is not in the queue. A packet that finds the link idle is decided on
 * but does not enter the queue. A fabric may report late that packets have left a queue, so a
 * policy calls EgressQueue::Update of each queue that it looks at before it decides. A policy that
 * shares a buffer among several links looks at the queues of all of them.
 */
class QueuePolicy
{
  public:
    /// The decision about a packet.
    enum class Verdict : uint8_t
    {
        ADMIT,
        MARK, //!< admit the packet and set CE
        DROP,
    };

    /// A packet that arrives at the queue.
    struct Arrival
    {
        uint32_t bytes;    //!< size on the wire [bytes]
        bool isEcnCapable; //!< true if the packet may be marked
        bool isDroppable;  //!< false if the packet was admitted before and must not be dropped now
    };

    virtual ~QueuePolicy() = default;

    /**
     * @param arrival the arriving packet
     * @return the decision
     */
    virtual Verdict Decide(const Arrival& arrival) = 0;

    /// @param bytes size of a packet that enters the queue [bytes]
    virtual void Enter(uint32_t bytes)
    {
        m_queuedBytes += bytes;
    }

    /// @param bytes size of a packet that leaves the queue [bytes]
    virtual void Leave(uint32_t bytes)
    {
        m_queuedBytes -= bytes;
    }

    /// @return length of the queue [bytes]
    uint64_t GetQueuedBytes() const
    {
        return m_queuedBytes;
    }

  private:
    uint64_t m_queuedBytes{0};
};

/// Creates the policies of the links of a fabric. The policies of one switch may share state.
class QueuePolicyMaker
{
  public:
    virtual ~QueuePolicyMaker() = default;

    /**
     * @param link the current state of the link
     * @param queue egress queue of the link; must outlive the policy
     * @return the policy of the link, or null if every packet is admitted unmarked
     */
    virtual std::unique_ptr<QueuePolicy> Make(const LinkState& link, EgressQueue& queue) = 0;
};

} // namespace cosim

#endif // COSIM_QUEUE_POLICY_H
