/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/drop-tail-buffer.h"

namespace cosim
{

DropTailBuffer::DropTailBuffer(const BufferRules& rules)
    : m_rules(rules)
{
}

uint32_t
DropTailBuffer::AddPort(EgressQueue& queue)
{
    m_ports.push_back({&queue});
    return static_cast<uint32_t>(m_ports.size() - 1);
}

bool
DropTailBuffer::SetLink(uint32_t number, const LinkState& link)
{
    Port& port = m_ports[number];
    port.isUp = link.isUp;
    port.limitBytes = link.bufferBytes == 0 ? UINT64_MAX : link.bufferBytes;
    port.thresholdBytes = link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes;
    return !link.isUp || link.bufferBytes != 0 || link.ecnThresholdBytes != 0;
}

SwitchBuffer::Verdict
DropTailBuffer::Enter(uint32_t number, const Passage& packet, bool isDroppable)
{
    Port& port = m_ports[number];
    const bool hasRoom = port.takenBytes + GetRoom(packet.bytes) <= port.limitBytes;
    if (!port.isUp || (isDroppable && !hasRoom))
    {
        return Verdict::DROP;
    }
    return Take(port, packet) ? Verdict::MARK : Verdict::ADMIT;
}

bool
DropTailBuffer::Take(Port& port, const Passage& packet)
{
    const bool isMarked =
        packet.isEcnCapable && !m_rules.marksAtDequeue && port.queuedBytes >= port.thresholdBytes;
    port.queuedBytes += packet.bytes;
    port.takenBytes += GetRoom(packet.bytes);
    return isMarked;
}

bool
DropTailBuffer::Leave(uint32_t number, const Passage& packet)
{
    Port& port = m_ports[number];
    port.queuedBytes -= packet.bytes;
    port.takenBytes -= GetRoom(packet.bytes);
    return packet.isEcnCapable && m_rules.marksAtDequeue && port.queuedBytes >= port.thresholdBytes;
}

bool
DropTailBuffer::MarksAtDequeue() const
{
    return m_rules.marksAtDequeue;
}

} // namespace cosim
