/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DROP_TAIL_POLICY_H
#define COSIM_DROP_TAIL_POLICY_H

#include "stream/stream.h"
#include "transport/queue-policy.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * A queue with a limit and an ECN threshold.
 *
 * It drops a packet that does not fit into the link's buffer. The buffer has room for a number of
 * bytes, or for a number of packets of any size. It marks a packet that arrives when
 * the queue has reached the link's ECN threshold. This is the marking by instantaneous queue length
 * that DCTCP needs from a switch (RFC 8257, 3.1).
 */
class DropTailPolicy : public QueuePolicy
{
  public:
    /**
     * @param link supplies the buffer size and the threshold
     * @param queue the queue; must outlive the policy
     * @param slotBytes room that a packet of any size takes; 0: as many bytes as the packet has
     */
    DropTailPolicy(const LinkState& link, EgressQueue& queue, uint32_t slotBytes);

    Verdict Decide(const Arrival& arrival) override;
    void Enter(uint32_t bytes) override;
    void Leave(uint32_t bytes) override;

  private:
    /// @return the room that a packet takes [bytes]
    uint32_t GetRoom(uint32_t bytes) const
    {
        return m_slotBytes == 0 ? bytes : m_slotBytes;
    }

    EgressQueue& m_queue;
    uint64_t m_limitBytes; //!< UINT64_MAX if the queue has no limit
    uint32_t m_slotBytes;
    uint64_t m_takenBytes{0};  //!< room that the packets in the queue take
    uint64_t m_thresholdBytes; //!< UINT64_MAX if the queue has no threshold
};

/// A queue of a link that is down: it drops every packet.
class ClosedPolicy : public QueuePolicy
{
  public:
    Verdict Decide(const Arrival& /* arrival */) override
    {
        return Verdict::DROP;
    }
};

/// Creates a ClosedPolicy for each link that is down, and a DropTailPolicy for each link with a
/// limited buffer or an ECN threshold.
class DropTailPolicyMaker : public QueuePolicyMaker
{
  public:
    /// @param slotBytes room that a packet of any size takes; 0: as many bytes as the packet has
    explicit DropTailPolicyMaker(uint32_t slotBytes);

    std::unique_ptr<QueuePolicy> Make(const LinkState& link, EgressQueue& queue) override;

  private:
    uint32_t m_slotBytes;
};

} // namespace cosim

#endif // COSIM_DROP_TAIL_POLICY_H
