/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/pfc-buffer.h"

#include "support/wide-arithmetic.h"
#include "transport/shared-buffer.h"

#include <algorithm>
#include <utility>

namespace cosim
{

PfcLinks::PfcLinks(const Topology& topology)
    : topology(topology),
      into(topology.nodes)
{
    for (uint32_t link = 0; link < topology.linkTarget.size(); ++link)
    {
        std::vector<uint32_t>& links = into[topology.linkTarget[link]];
        number.push_back(static_cast<uint32_t>(links.size()));
        links.push_back(link);
    }
}

PfcBuffer::PfcBuffer(const BufferRules& rules,
                     std::shared_ptr<const PfcLinks> links,
                     uint64_t bytes)
    : m_rules(rules),
      m_links(std::move(links)),
      m_reserveBytes(m_links->topology.reserveBytes),
      m_poolBytes(bytes),
      m_ingresses(m_links->into[rules.node].size())
{
    for (const uint32_t link : m_links->into[rules.node])
    {
        const uint64_t own = m_reserveBytes + m_links->topology.linkHeadroomBytes[link];
        m_poolBytes -= std::min(m_poolBytes, own);
    }
    for (const uint32_t trafficClass : m_links->topology.lossyClasses)
    {
        m_lossy |= uint32_t{1} << trafficClass;
    }
}

uint32_t
PfcBuffer::AddPort(EgressQueue& queue)
{
    m_ports.push_back({EcnRamp(m_rules, m_numbers.Add(queue))});
    return static_cast<uint32_t>(m_ports.size() - 1);
}

bool
PfcBuffer::SetLink(uint32_t number, const LinkState& link)
{
    m_ports[number].isUp = link.isUp;
    m_ports[number].ramp.Set(link);
    return true;
}

void
PfcBuffer::SetMarking(uint32_t number, const EcnMarking& marking)
{
    m_ports[number].ramp.Set(marking);
}

bool
PfcBuffer::MarksAtDequeue() const
{
    return m_rules.marksAtDequeue;
}

void
PfcBuffer::SetPauseChannel(PauseChannel& channel)
{
    m_channel = &channel;
}

/// @return the shared memory that is free
uint64_t
PfcBuffer::GetFree() const
{
    return m_poolBytes - std::min(m_poolBytes, m_sharedBytes);
}

uint64_t
PfcBuffer::GetThreshold(uint32_t link) const
{
    constexpr uint64_t one = 1'000'000;
    return MultiplyDivide(GetFree(), m_links->topology.linkSharePpm[link], one);
}

/// Put a packet of a lossy class into memory. @return false if there is no room
bool
PfcBuffer::TakeShared(const Port& port, const Passage& packet, bool isDroppable)
{
    const uint64_t alphaPpm = m_links->topology.sharedMemoryAlphaPpm;
    if (isDroppable && !FitsPart(port.queuedBytes, packet.bytes, GetFree(), alphaPpm))
    {
        return false;
    }
    m_sharedBytes += packet.bytes;
    return true;
}

/// @return what the packets of a link and class take of the shared memory
uint64_t
PfcBuffer::GetShared(const Ingress& ingress) const
{
    return ingress.bytes - std::min(ingress.bytes, m_reserveBytes);
}

SwitchBuffer::Verdict
PfcBuffer::Enter(uint32_t number, const Passage& packet, bool isDroppable)
{
    Port& port = m_ports[number];
    if (!port.isUp)
    {
        return Verdict::DROP;
    }
    if (Counts(packet) && IsLossy(packet))
    {
        if (!TakeShared(port, packet, isDroppable))
        {
            return Verdict::DROP;
        }
    }
    else if (Counts(packet))
    {
        Ingress& ingress = Find(packet);
        const uint64_t headroom = m_links->topology.linkHeadroomBytes[packet.ingress];
        const uint64_t threshold = GetThreshold(packet.ingress);
        const uint64_t shared = GetShared(ingress);
        if (isDroppable && packet.bytes + ingress.headroomBytes > headroom &&
            packet.bytes + shared > threshold)
        {
            ++m_headroom.drops;
            ingress.lostBytes += packet.bytes;
            m_headroom.lackBytes = std::max(m_headroom.lackBytes, ingress.lostBytes);
            return Verdict::DROP;
        }
        const uint64_t bytes = ingress.bytes + packet.bytes;
        if (bytes > m_reserveBytes && bytes - m_reserveBytes > threshold)
        {
            ingress.headroomBytes += packet.bytes;
            if (ingress.headroomBytes > m_headroom.peakBytes)
            {
                m_headroom.peakBytes = ingress.headroomBytes;
                m_headroom.limitBytes = headroom;
            }
        }
        else
        {
            ingress.bytes = bytes;
            m_sharedBytes += GetShared(ingress) - shared;
        }
        ingress.byPort.resize(m_ports.size());
        ingress.byPort[number] += packet.bytes;
        if (!ingress.isPaused && m_channel != nullptr &&
            (ingress.headroomBytes > 0 ||
             (GetShared(ingress) > 0 && GetShared(ingress) >= GetThreshold(packet.ingress))))
        {
            ingress.isPaused = true;
            m_channel->SetPaused(packet.ingress, packet.trafficClass, true);
        }
    }
    if (packet.trafficClass >= PROMPT_CLASS)
    {
        return Verdict::ADMIT;
    }
    const bool isMarked =
        packet.isEcnCapable && !port.ramp.MarksAtDequeue() && port.ramp.IsMarked(port.queuedBytes);
    port.queuedBytes += packet.bytes;
    return isMarked ? Verdict::MARK : Verdict::ADMIT;
}

bool
PfcBuffer::Leave(uint32_t number, const Passage& packet)
{
    Port& port = m_ports[number];
    if (packet.trafficClass >= PROMPT_CLASS)
    {
        return false;
    }
    port.queuedBytes -= packet.bytes;
    if (Counts(packet) && IsLossy(packet))
    {
        m_sharedBytes -= packet.bytes;
    }
    else if (Counts(packet))
    {
        Ingress& ingress = Find(packet);
        const uint64_t fromHeadroom = std::min<uint64_t>(ingress.headroomBytes, packet.bytes);
        const uint64_t shared = GetShared(ingress);
        ingress.headroomBytes -= fromHeadroom;
        ingress.bytes -= packet.bytes - fromHeadroom;
        m_sharedBytes -= shared - GetShared(ingress);
        ingress.byPort[number] -= packet.bytes;
        const uint64_t left = GetShared(ingress);
        if (ingress.isPaused && ingress.headroomBytes == 0 &&
            (left == 0 || left + m_links->topology.resumeBytes <= GetThreshold(packet.ingress)))
        {
            ingress.isPaused = false;
            ingress.lostBytes = 0;
            m_channel->SetPaused(packet.ingress, packet.trafficClass, false);
        }
    }
    return packet.isEcnCapable && port.ramp.MarksAtDequeue() &&
           port.ramp.IsMarked(port.queuedBytes);
}

void
PfcBuffer::OnLinkDown(uint32_t link)
{
    for (Ingress& ingress : m_ingresses[m_links->number[link]])
    {
        ingress.isPaused = false;
        ingress.lostBytes = 0;
    }
}

bool
PfcBuffer::IsStuck(uint32_t link,
                   uint8_t trafficClass,
                   const std::function<bool(uint32_t port)>& isHeld) const
{
    const Ingress& ingress = m_ingresses[m_links->number[link]][trafficClass];
    if (!ingress.isPaused)
    {
        return false;
    }
    for (uint32_t port = 0; port < ingress.byPort.size(); ++port)
    {
        if (ingress.byPort[port] > 0 && !isHeld(port))
        {
            return false;
        }
    }
    return true;
}

HeadroomUse
PfcBuffer::GetHeadroomUse() const
{
    return m_headroom;
}

} // namespace cosim
