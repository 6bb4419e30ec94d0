/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-simulator.h"
#include "fabrics/express/express-fabric.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Bytes of a flow up to which ns-3's congestion window, a number of 32 bits, cannot overflow: it
/// grows by at most what is acknowledged. The rest is room for the first window.
constexpr uint64_t MOST_FLOW_BYTES = (uint64_t{1} << 32) - (uint64_t{1} << 30);

} // namespace

Repeatable*
ExpressFabric::GetRepeatable()
{
    return m_linkControl || m_detours ? nullptr : this;
}

std::string
ExpressFabric::GetObstacle() const
{
    return m_transport->GetObstacle();
}

bool
ExpressFabric::IsAtRest() const
{
    // All data is delivered, so what is left on the links are acknowledgments.
    std::size_t packets = 0;
    for (const auto& link : m_links)
    {
        packets += link->GetPackets();
    }
    return packets == m_transport->CountPackets() && IsMatched() && IsDelivered() &&
           m_transport->IsAtRest();
}

int64_t
ExpressFabric::AddState(StateDigest& digest) const
{
    const int64_t number = CausalSimulator::Get().TakeNumber();
    for (const auto& link : m_links)
    {
        link->AddState(digest, number, [this, &digest](const Packet& packet) {
            m_connections[packet.flow].ends.sender->AddPacket(digest, packet);
        });
    }
    return m_transport->AddState(digest);
}

void
ExpressFabric::LogRoundTrips()
{
    StartRoundTripLog();
}

void
ExpressFabric::ForgetRoundTrips(const NetworkCounters& oldest)
{
    TrimRoundTripLog(oldest.loggedRoundTrips);
}

NetworkCounters
ExpressFabric::GetCounters() const
{
    return GetPacketCounters();
}

uint64_t
ExpressFabric::LimitRepeats(const NetworkCounters& from, uint64_t times) const
{
    times = m_completionPs.LimitRepeats(from.completionPs, times);
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        const FlowCounters& now = GetFlow(flow);
        const FlowCounters& before = from.flows[flow];
        const uint64_t sent = now.bytes + now.messages; // an empty message takes a byte
        const uint64_t step = sent - before.bytes - before.messages;
        if (sent >= MOST_FLOW_BYTES)
        {
            return 0;
        }
        times = step == 0 ? times : std::min(times, (MOST_FLOW_BYTES - sent) / step);
    }
    return times;
}

void
ExpressFabric::Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs)
{
    for (uint32_t link = 0; link < m_links.size(); ++link)
    {
        m_links[link]->Repeat(from.links[link], times);
    }
    RepeatPackets(from, times, periodPs);
}

} // namespace cosim
