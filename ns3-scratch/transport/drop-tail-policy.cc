/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/drop-tail-policy.h"

namespace cosim
{

DropTailPolicy::DropTailPolicy(const LinkState& link, EgressQueue& queue)
    : m_queue(queue),
      m_limitBytes(link.bufferBytes == 0 ? UINT64_MAX : link.bufferBytes),
      m_thresholdBytes(link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes)
{
}

QueuePolicy::Verdict
DropTailPolicy::Decide(const Arrival& arrival)
{
    m_queue.Update();
    const uint64_t queued = GetQueuedBytes();
    if (arrival.isDroppable && queued + arrival.bytes > m_limitBytes)
    {
        return Verdict::DROP;
    }
    return arrival.isEcnCapable && queued >= m_thresholdBytes ? Verdict::MARK : Verdict::ADMIT;
}

std::unique_ptr<QueuePolicy>
DropTailPolicyMaker::Make(const LinkState& link, EgressQueue& queue)
{
    if (!link.isUp)
    {
        return std::make_unique<ClosedPolicy>();
    }
    if (link.bufferBytes == 0 && link.ecnThresholdBytes == 0)
    {
        return nullptr;
    }
    return std::make_unique<DropTailPolicy>(link, queue);
}

} // namespace cosim
