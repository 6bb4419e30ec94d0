/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-fabric.h"

#include "transport/tcp/segment-codec.h"
#include "transport/tcp/tcp-defaults.h"

#include "ns3/simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

ExpressFabric::ExpressFabric(const Topology& topology, const Settings& settings)
    : PacketFabric(topology, settings),
      m_connections(GetFlowCount()),
      m_receiverConfig(settings.tcp)
{
}

ExpressFabric::~ExpressFabric() = default;

void
ExpressFabric::Build()
{
    SetTcpDefaults(m_settings.tcp);
    m_congestionControl.SetTypeId(CongestionControlType(m_settings.tcp));
    m_prototype = CreateObject<ExpressTcpSocket>();
    m_prototype->Equip();
    m_prototype->SetCarrier(this, m_settings.tcp.linkHeaderBytes);
    while (m_links.size() < m_topology.linkSource.size())
    {
        MakeLink();
    }
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        m_connections[flow].reverse = GetReverse(flow);
    }
}

ExpressLink::Parameters
ExpressFabric::GetParameters(uint32_t link) const
{
    return {static_cast<int64_t>(m_topology.linkLatencyPs[link]),
            m_topology.linkBufferBytes[link],
            m_topology.linkEcnThresholdBytes[link]};
}

std::shared_ptr<TransmissionTimes>
ExpressFabric::GetTimes(uint64_t rateBps)
{
    std::shared_ptr<TransmissionTimes>& times = m_times[rateBps];
    if (!times)
    {
        times = std::make_shared<TransmissionTimes>(rateBps, GetMaxWireBytes());
    }
    return times;
}

void
ExpressFabric::MakeLink()
{
    const auto link = static_cast<uint32_t>(m_links.size());
    ExpressLink::Receiver* receiver = this;
    m_links.push_back(std::make_unique<ExpressLink>(GetParameters(link),
                                                    GetTimes(m_topology.linkRateBps[link]),
                                                    receiver));
}

void
ExpressFabric::Submit(FlowId flow, uint64_t bytes)
{
    if (!m_connections[flow].sender)
    {
        Connect(flow);
    }
    m_connections[flow].sender->Submit(bytes);
}

void
ExpressFabric::Connect(FlowId flow)
{
    Connection& connection = m_connections[flow];
    connection.sender = CopyObject(m_prototype);
    connection.sender->SetCongestionControl(m_congestionControl);
    connection.sender->Observe(this, flow);
    connection.sender->Establish(GetHandshakeRtt(flow));
    connection.receiver = std::make_unique<ExpressReceiver>(m_receiverConfig,
                                                            static_cast<SegmentCarrier&>(*this),
                                                            static_cast<FlowObserver&>(*this),
                                                            flow);
}

Time
ExpressFabric::GetHandshakeRtt(FlowId flow) const
{
    const uint32_t bytes = GetSynWireBytes(m_settings.tcp);
    Time rtt;
    for (const FlowId direction : {flow, m_connections[flow].reverse})
    {
        bool isFirst = true;
        // Without a link back, the way back is as long as the way there.
        const bool isThere = !GetPath(direction).empty();
        for (const uint32_t link : GetPath(isThere ? direction : flow))
        {
            rtt += DataRate(m_topology.linkRateBps[link]).CalculateBytesTxTime(bytes) +
                   TimeStep(m_topology.linkLatencyPs[link]);
            if (!isFirst && m_topology.linkSource[link] < m_topology.ranks)
            {
                rtt += TimeStep(m_topology.forwardingDelayPs);
            }
            isFirst = false;
        }
    }
    return rtt;
}

Segment*
ExpressFabric::NewSegment()
{
    return m_segments.Take();
}

void
ExpressFabric::Carry(Segment* segment)
{
    const FlowId flow = segment->flow;
    segment->path = GetPath(segment->toSender ? m_connections[flow].reverse : flow);
    Enter(segment->path.front(), segment);
}

void
ExpressFabric::Enter(uint32_t link, Segment* segment)
{
    if (!m_links[link]->Enqueue(segment))
    {
        ReportDrop(link, segment->wireBytes);
        m_segments.Return(segment);
    }
}

void
ExpressFabric::OnLinkArrival(Segment* segment)
{
    Poll();
    if (++segment->hop < segment->path.size())
    {
        const uint32_t link = segment->path[segment->hop];
        if (m_topology.forwardingDelayPs > 0 && m_topology.linkSource[link] < m_topology.ranks)
        { // a rank passes it on
            Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                                &ExpressFabric::Enter,
                                this,
                                link,
                                segment);
            return;
        }
        Enter(link, segment);
        return;
    }
    Reach(segment);
}

LinkCounters
ExpressFabric::GetLinkCounters(uint32_t link) const
{
    return m_links[link]->GetCounters();
}

std::unique_ptr<Fabric>
MakeExpressFabric(const Topology& topology, const Settings& settings)
{
    return std::make_unique<ExpressFabric>(topology, settings);
}

} // namespace cosim
