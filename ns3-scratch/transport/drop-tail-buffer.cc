/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/drop-tail-buffer.h"

#include "network/flow-hash.h"
#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

void
EcnRamp::Set(const LinkState& link)
{
    m_beginBytes = link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes;
    m_fullBytes = std::max(m_beginBytes, link.ecnFullBytes);
}

bool
EcnRamp::IsMarked(uint64_t queuedBytes)
{
    if (queuedBytes < m_beginBytes || queuedBytes >= m_fullBytes)
    {
        return queuedBytes >= m_beginBytes;
    }
    constexpr uint64_t all = 1'000'000'000;
    const uint64_t chance =
        MultiplyDivide(queuedBytes - m_beginBytes, m_rules->chancePpb, m_fullBytes - m_beginBytes);
    return HashFlow(m_rules->seed, m_port, m_rules->node, m_asked++) % all < chance;
}

DropTailBuffer::DropTailBuffer(const BufferRules& rules)
    : m_rules(rules)
{
}

uint32_t
DropTailBuffer::AddPort(EgressQueue& queue)
{
    m_ports.push_back({&queue, EcnRamp(m_rules, m_numbers.Add(queue))});
    return static_cast<uint32_t>(m_ports.size() - 1);
}

bool
DropTailBuffer::SetLink(uint32_t number, const LinkState& link)
{
    Port& port = m_ports[number];
    port.isUp = link.isUp;
    port.limitBytes = link.bufferBytes == 0 ? UINT64_MAX : link.bufferBytes;
    port.ramp.Set(link);
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
        packet.isEcnCapable && !m_rules.marksAtDequeue && port.ramp.IsMarked(port.queuedBytes);
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
    return packet.isEcnCapable && m_rules.marksAtDequeue && port.ramp.IsMarked(port.queuedBytes);
}

bool
DropTailBuffer::MarksAtDequeue() const
{
    return m_rules.marksAtDequeue;
}

} // namespace cosim
