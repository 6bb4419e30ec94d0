/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DROP_TAIL_POLICY_H
#define COSIM_DROP_TAIL_POLICY_H

#include "transport/queue-policy.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * Drops packets that would overrun the link's buffer, and marks those that find the queue filled to
 * the link's ECN threshold: the instantaneous marking that DCTCP asks of a switch (RFC 8257, 3.1).
 */
class DropTailPolicy : public QueuePolicy
{
  public:
    /**
     * @param link gives the buffer and the threshold
     * @param queue the queue; outlives the policy
     */
    DropTailPolicy(const LinkState& link, EgressQueue& queue);

    Verdict Decide(const Arrival& arrival) override;

  private:
    EgressQueue& m_queue;
    uint64_t m_limitBytes;     //!< the largest number if there is none
    uint64_t m_thresholdBytes; //!< the largest number if there is none
};

/// Makes a DropTailPolicy for each link with a limited buffer or an ECN threshold.
class DropTailPolicyMaker : public QueuePolicyMaker
{
  public:
    std::unique_ptr<QueuePolicy> Make(const LinkState& link, EgressQueue& queue) override;
};

} // namespace cosim

#endif // COSIM_DROP_TAIL_POLICY_H
