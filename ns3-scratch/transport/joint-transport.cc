/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/joint-transport.h"

#include "support/ledger.h"

#include <utility>

namespace cosim
{

JointTransport::JointTransport(Part first, Part second, std::vector<bool> isSecond)
    : m_parts{std::move(first), std::move(second)},
      m_isSecond(std::move(isSecond))
{
}

uint32_t
JointTransport::GetHandshakeBytes(FlowId flow) const
{
    return GetOf(flow).GetHandshakeBytes(flow);
}

void
JointTransport::Attach(PacketCarrier& carrier, FlowObserver& observer)
{
    for (const Part& part : m_parts)
    {
        part.transport->Attach(carrier, observer);
    }
}

FlowEnds
JointTransport::Connect(FlowId flow, const Handshake& handshake)
{
    return GetOf(flow).Connect(flow, handshake);
}

void
JointTransport::Release(Packet* packet)
{
    GetOf(packet->flow).Release(packet);
}

PacketCounts
JointTransport::GetSent() const
{
    PacketCounts sum = m_parts[0].transport->GetSent();
    AddCounters(sum, m_parts[1].transport->GetSent());
    return sum;
}

PulledTransport*
JointTransport::GetPulled()
{
    PulledTransport* const first = m_parts[0].transport->GetPulled();
    return first != nullptr ? first : m_parts[1].transport->GetPulled();
}

void
JointTransport::AddStatistics(NetworkStatistics& statistics) const
{
    for (const Part& part : m_parts)
    {
        part.transport->AddStatistics(statistics);
    }
}

} // namespace cosim
