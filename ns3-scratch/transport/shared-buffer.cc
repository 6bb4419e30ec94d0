/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/shared-buffer.h"

#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

bool
FitsPart(uint64_t queuedBytes, uint32_t bytes, uint64_t freeBytes, uint64_t alphaPpm)
{
    constexpr uint64_t one = 1'000'000;
    return bytes <= freeBytes && queuedBytes + bytes <= MultiplyDivide(freeBytes, alphaPpm, one);
}

SharedBuffer::SharedBuffer(const BufferRules& rules, uint64_t bytes, uint64_t alphaPpm)
    : DropTailBuffer(rules),
      m_bytes(bytes),
      m_alphaPpm(alphaPpm)
{
}

bool
SharedBuffer::HasRoom(const Port& port, uint32_t bytes) const
{
    return FitsPart(port.queuedBytes, bytes, m_bytes - std::min(m_bytes, m_usedBytes), m_alphaPpm);
}

SwitchBuffer::Verdict
SharedBuffer::Enter(uint32_t number, const Passage& packet, bool isDroppable)
{
    Port& port = GetPort(number);
    if (!port.IsLimited() || !port.isUp)
    {
        return DropTailBuffer::Enter(number, packet, isDroppable);
    }
    for (std::size_t i = m_busy.size(); i-- > 0;)
    {
        GetPort(m_busy[i]).queue->Update(); // which may remove this entry
    }
    if (isDroppable && !HasRoom(port, packet.bytes))
    {
        return Verdict::DROP;
    }
    if (port.queuedBytes == 0)
    {
        m_busy.push_back(number);
    }
    m_usedBytes += packet.bytes;
    return Take(port, packet) ? Verdict::MARK : Verdict::ADMIT;
}

bool
SharedBuffer::Leave(uint32_t number, const Passage& packet)
{
    const bool isMarked = DropTailBuffer::Leave(number, packet);
    if (const Port& port = GetPort(number); port.IsLimited())
    {
        m_usedBytes -= packet.bytes;
        if (port.queuedBytes == 0)
        {
            std::erase(m_busy, number);
        }
    }
    return isMarked;
}

} // namespace cosim
