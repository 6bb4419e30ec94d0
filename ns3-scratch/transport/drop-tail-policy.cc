/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/drop-tail-policy.h"

namespace cosim
{

DropTailPolicy::DropTailPolicy(const LinkState& link, EgressQueue& queue, uint32_t slotBytes)
    : m_queue(queue),
      m_limitBytes(link.bufferBytes == 0 ? UINT64_MAX : link.bufferBytes),
      m_slotBytes(slotBytes),
      m_thresholdBytes(link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes)
{
}

QueuePolicy::Verdict
DropTailPolicy::Decide(const Arrival& arrival)
{
    m_queue.Update();
    if (arrival.isDroppable && m_takenBytes + GetRoom(arrival.bytes) > m_limitBytes)
    {
        return Verdict::DROP;
    }
    const bool isMarked = arrival.isEcnCapable && GetQueuedBytes() >= m_thresholdBytes;
    return isMarked ? Verdict::MARK : Verdict::ADMIT;
}

void
DropTailPolicy::Enter(uint32_t bytes)
{
    QueuePolicy::Enter(bytes);
    m_takenBytes += GetRoom(bytes);
}

void
DropTailPolicy::Leave(uint32_t bytes)
{
    QueuePolicy::Leave(bytes);
    m_takenBytes -= GetRoom(bytes);
}

DropTailPolicyMaker::DropTailPolicyMaker(uint32_t slotBytes)
    : m_slotBytes(slotBytes)
{
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
    return std::make_unique<DropTailPolicy>(link, queue, m_slotBytes);
}

} // namespace cosim
