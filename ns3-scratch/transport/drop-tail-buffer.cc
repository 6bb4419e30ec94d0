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
    if (!m_isSet)
    {
        m_beginBytes = link.ecnThresholdBytes == 0 ? UINT64_MAX : link.ecnThresholdBytes;
        m_fullBytes = std::max(m_beginBytes, link.ecnFullBytes);
    }
}

void
EcnRamp::Set(const EcnMarking& marking)
{
    m_beginBytes = marking.beginBytes == 0 ? UINT64_MAX : marking.beginBytes;
    m_fullBytes = std::max(m_beginBytes, marking.fullBytes);
    m_chancePpb = marking.chancePpb;
    m_marksAtDequeue = marking.atDequeue;
    m_isSet = true;
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
        MultiplyDivide(queuedBytes - m_beginBytes, m_chancePpb, m_fullBytes - m_beginBytes);
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
    return !link.isUp || link.bufferBytes != 0 || port.ramp.CanMark();
}

void
DropTailBuffer::SetMarking(uint32_t number, const EcnMarking& marking)
{
    m_ports[number].ramp.Set(marking);
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
        packet.isEcnCapable && !port.ramp.MarksAtDequeue() && port.ramp.IsMarked(port.queuedBytes);
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
    return packet.isEcnCapable && port.ramp.MarksAtDequeue() &&
           port.ramp.IsMarked(port.queuedBytes);
}

bool
DropTailBuffer::MarksAtDequeue() const
{
    return m_rules.marksAtDequeue;
}

} // namespace cosim
