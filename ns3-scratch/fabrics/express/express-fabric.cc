/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-fabric.h"

#include "clock/causal-simulator.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// Bytes of a flow up to which ns-3's congestion window, a number of 32 bits, cannot overflow: it
/// grows by at most what is acknowledged. The rest is room for the first window.
constexpr uint64_t MOST_FLOW_BYTES = (uint64_t{1} << 32) - (uint64_t{1} << 30);

} // namespace

ExpressFabric::ExpressFabric(const Topology& topology,
                             const Settings& settings,
                             std::unique_ptr<Transport> transport,
                             std::unique_ptr<QueuePolicyMaker> policies)
    : PacketFabric(topology, settings),
      m_transport(std::move(transport)),
      m_policies(std::move(policies)),
      m_connections(GetFlowCount())
{
    PacketCarrier* carrier = this;
    if (topology.HasCircuits())
    {
        m_linkControl = std::make_unique<ExpressLinkControl>(topology, *this);
        carrier = m_linkControl.get();
        m_receiver = m_linkControl.get();
    }
    else if (topology.HasLinkEvents() || !topology.linkLossPpb.empty() ||
             topology.spread != PathSpread::FLOW)
    {
        m_detours = std::make_unique<ExpressDetours>(topology, *this);
        carrier = m_detours.get();
        m_receiver = m_detours.get();
    }
    m_transport->Attach(*carrier, *this);
}

ExpressFabric::~ExpressFabric() = default;

LinkControl*
ExpressFabric::GetLinkControl()
{
    if (m_linkControl)
    {
        return m_linkControl.get();
    }
    return m_detours.get();
}

NetworkStatistics
ExpressFabric::GetStatistics() const
{
    NetworkStatistics statistics = PacketFabric::GetStatistics();
    if (m_detours)
    {
        statistics.refusals = m_refusals;
        statistics.linkLosses = m_detours->GetLosses();
        statistics.reordering = m_detours->GetReordering();
    }
    return statistics;
}

void
ExpressFabric::Build()
{
    for (uint32_t link = 0; link < m_liveLinks.GetCount(); ++link)
    {
        SetLink(link);
    }
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        m_connections[flow].reverse = GetReverse(flow);
    }
    if (!m_linkControl)
    {
        // Some congestion controls of ns-3 look at the time since the simulation began, so the
        // clock starts when that of the native fabric does.
        PassHandshakes();
    }
}

void
ExpressFabric::SetLink(uint32_t link)
{
    const LinkState& state = m_liveLinks.Get(link);
    if (link == m_links.size())
    {
        m_links.push_back(std::make_unique<ExpressLink>(state.latencyPs, *m_receiver));
    }
    m_links[link]->Set(GetTimes(state.rateBps), m_policies->Make(state, *m_links[link]));
}

TransmissionTimes&
ExpressFabric::GetTimes(uint64_t rateBps)
{
    return m_times.try_emplace(rateBps, rateBps, GetMaxWireBytes()).first->second;
}

void
ExpressFabric::Submit(FlowId flow, uint64_t bytes)
{
    if (!m_linkControl || !m_linkControl->Hold(flow, bytes))
    {
        Send(flow, bytes);
    }
}

void
ExpressFabric::Send(FlowId flow, uint64_t bytes)
{
    FlowEnds& ends = m_connections[flow].ends;
    if (ends.sender == nullptr)
    {
        ends = m_transport->Connect(flow, GetHandshake(flow));
    }
    ends.sender->Submit(bytes);
}

Handshake
ExpressFabric::GetHandshake(FlowId flow) const
{
    const uint32_t bytes = m_transport->GetHandshakeBytes();
    // If links change, connections open in no time before the first circuits are measured.
    Handshake handshake{m_linkControl ? Time() : GetHandshakeStart(flow), Time(), Time()};
    for (const FlowId direction : {flow, m_connections[flow].reverse})
    {
        bool isFirst = true;
        // Without a path in the reverse direction, assume that it takes as long as the forward
        // path.
        const bool isThere = !GetPath(direction).empty();
        for (const uint32_t id : GetPath(isThere ? direction : flow))
        {
            const LinkState& link = m_liveLinks.Get(id);
            handshake.rtt +=
                DataRate(link.rateBps).CalculateBytesTxTime(bytes) + TimeStep(link.latencyPs);
            if (!isFirst && link.source < m_topology.ranks)
            {
                handshake.rtt += TimeStep(m_topology.forwardingDelayPs);
            }
            isFirst = false;
        }
        if (direction == flow)
        {
            handshake.forward = handshake.rtt;
        }
    }
    return handshake;
}

void
ExpressFabric::Carry(Packet* packet)
{
    const FlowId flow = packet->flow;
    packet->path = GetPath(packet->toSender ? m_connections[flow].reverse : flow);
    Enter(packet->path.front(), packet);
}

void
ExpressFabric::Enter(uint32_t link, Packet* packet)
{
    if (!m_links[link]->Enqueue(packet))
    {
        m_refusals += m_liveLinks.Get(link).isUp ? 0 : 1;
        ReportDrop(link, packet->wireBytes);
        m_transport->Release(packet);
    }
}

void
ExpressFabric::OnLinkArrival(Packet* packet)
{
    Forward(packet);
}

void
ExpressFabric::Forward(Packet* packet)
{
    if (++packet->hop < packet->path.size())
    {
        const uint32_t link = packet->path[packet->hop];
        if (m_topology.forwardingDelayPs > 0 && m_liveLinks.Get(link).source < m_topology.ranks)
        { // a rank forwards the packet
            Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                                &ExpressFabric::Enter,
                                this,
                                link,
                                packet);
            return;
        }
        Enter(link, packet);
        return;
    }
    Reach(packet);
}

uint32_t
ExpressFabric::GetWindow(FlowId flow) const
{
    const FlowSender* sender = m_connections[flow].ends.sender;
    return sender == nullptr ? 0 : sender->GetWindow();
}

LinkCounters
ExpressFabric::GetLink(uint32_t link) const
{
    return m_links[link]->GetCounters();
}

// Repetition.

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
