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

/// The egress queue of a link, as a policy sees it.
class EgressQueue
{
  public:
    virtual ~EgressQueue() = default;

    /// Tell the policy of the packets that left the queue by now, if it does not know it yet.
    virtual void Update() = 0;
};

/**
 * Decides which packets enter a link's egress queue, and which of them are marked (CE, RFC 3168).
 *
 * The packet that is being sent is not in the queue. A packet that finds the link free is decided
 * on, but does not enter. A queue may learn late that packets left: a policy calls Update of each
 * queue that it looks at before it decides. One that shares a buffer among several links looks at
 * the queues of all of them.
 */
class QueuePolicy
{
  public:
    /// What happens to a packet.
    enum class Verdict : uint8_t
    {
        ADMIT,
        MARK, //!< admit it, and set CE
        DROP,
    };

    /// A packet that comes to the queue.
    struct Arrival
    {
        uint32_t bytes;    //!< its size on the wire
        bool isEcnCapable; //!< may be marked
        bool isDroppable;  //!< false: it was admitted before, and is not dropped now
    };

    virtual ~QueuePolicy() = default;

    /**
     * @param arrival a packet
     * @return what happens to it
     */
    virtual Verdict Decide(const Arrival& arrival) = 0;

    /// @param bytes the size of a packet that enters the queue
    virtual void Enter(uint32_t bytes)
    {
        m_queuedBytes += bytes;
    }

    /// @param bytes the size of a packet that leaves the queue
    virtual void Leave(uint32_t bytes)
    {
        m_queuedBytes -= bytes;
    }

    /// @return the length of the queue [bytes]
    uint64_t GetQueuedBytes() const
    {
        return m_queuedBytes;
    }

  private:
    uint64_t m_queuedBytes{0};
};

/// Makes the policies of a fabric's links. Those of the links of one switch may share state.
class QueuePolicyMaker
{
  public:
    virtual ~QueuePolicyMaker() = default;

    /**
     * @param link the link, as it is now
     * @param queue its egress queue; outlives the policy
     * @return its policy, or null if every packet enters unmarked
     */
    virtual std::unique_ptr<QueuePolicy> Make(const LinkState& link, EgressQueue& queue) = 0;
};

} // namespace cosim

#endif // COSIM_QUEUE_POLICY_H
