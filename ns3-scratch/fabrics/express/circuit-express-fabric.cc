/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/circuit-express-fabric.h"

#include "ns3/data-rate.h"
#include "ns3/simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

CircuitExpressFabric::CircuitExpressFabric(const Topology& topology, const Settings& settings)
    : CircuitSwitch(topology),
      ExpressFabric(GetCircuits().GetTopology(), settings),
      m_held(topology.ranks),
      m_senders(GetFlowCount())
{
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        m_senders[flow].isPaused = GetPath(flow).empty();
    }
}

void
CircuitExpressFabric::SetObservers(const RunObservers& observers)
{
    CircuitSwitch::SetObservers(observers);
    ExpressFabric::SetObservers(observers);
}

const std::vector<ReconfigurationRecord>*
CircuitExpressFabric::GetReconfigurations() const
{
    return &GetRecords();
}

void
CircuitExpressFabric::Build()
{
    ExpressFabric::Build();
    MakeLinkIds();
}

void
CircuitExpressFabric::MakeLinkIds()
{
    while (m_linkIds.size() < m_links.size())
    {
        m_linkIds.push_back(static_cast<uint32_t>(m_linkIds.size()));
    }
}

void
CircuitExpressFabric::Submit(FlowId flow, uint64_t bytes)
{
    NoteDemand();
    if (m_senders[flow].isPaused)
    {
        m_senders[flow].submitted += bytes;
        return;
    }
    ExpressFabric::Submit(flow, bytes);
}

/// @return the path to where a segment goes
FlowId
CircuitExpressFabric::GetPathOf(const Segment& segment) const
{
    return segment.toSender ? m_connections[segment.flow].reverse : segment.flow;
}

void
CircuitExpressFabric::Carry(Segment* segment)
{
    SendOn(segment, m_topology.pathSource[GetPathOf(*segment)]);
}

void
CircuitExpressFabric::OnLinkArrival(Segment* segment)
{
    Poll();
    const Rank node = m_topology.linkTarget[segment->path.front()];
    if (node == m_topology.pathTarget[GetPathOf(*segment)])
    {
        Deliver(segment);
    }
    else if (m_topology.forwardingDelayPs > 0)
    {
        Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                            &CircuitExpressFabric::SendOn,
                            this,
                            segment,
                            node);
    }
    else
    {
        SendOn(segment, node);
    }
}

/// A segment is at a rank, and is to go on.
void
CircuitExpressFabric::SendOn(Segment* segment, Rank node)
{
    if (IsPaused())
    {
        m_held[node].push_back(segment);
    }
    else if (const uint32_t link = FindLink(segment, node); link != CircuitNetwork::NONE)
    {
        Enter(link, segment);
    }
}

/// @return the link on which a segment goes on, or NONE: it waits, or went beside the circuits
uint32_t
CircuitExpressFabric::FindLink(Segment* segment, Rank node)
{
    const uint32_t link = GetCircuits().GetNext(node, GetPathOf(*segment));
    if (link != CircuitNetwork::NONE)
    {
        segment->path = {&m_linkIds[link], 1};
    }
    else if (segment->toSender)
    {
        const Reconfiguration& circuit = m_topology.reconfiguration;
        Simulator::Schedule(
            DataRate(circuit.circuitRateBps).CalculateBytesTxTime(segment->wireBytes) +
                TimeStep(circuit.circuitLatencyPs),
            &CircuitExpressFabric::Deliver,
            this,
            segment);
    }
    else
    {
        m_held[node].push_back(segment);
    }
    return link;
}

/// A segment is where it was sent to.
void
CircuitExpressFabric::Deliver(Segment* segment)
{
    Sender& sender = m_senders[segment->flow];
    if (segment->toSender && sender.isPaused)
    {
        sender.received.push_back(segment);
        return;
    }
    Reach(segment);
}

bool
CircuitExpressFabric::Measure(std::vector<uint64_t>& bytes) const
{
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        bytes[flow] += GetUndelivered(flow);
    }
    return false;
}

void
CircuitExpressFabric::Pause()
{
    Poll();
    for (uint32_t link = 0; link < m_links.size(); ++link)
    {
        m_links[link]->Withdraw(m_held[m_topology.linkSource[link]]);
    }
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        if (!std::exchange(m_senders[flow].isPaused, true) && m_connections[flow].sender)
        {
            m_connections[flow].sender->Pause();
        }
    }
}

void
CircuitExpressFabric::Resume()
{
    for (uint32_t link = 0; link < m_links.size(); ++link)
    {
        m_links[link]->Change(GetParameters(link), GetTimes(m_topology.linkRateBps[link]));
    }
    while (m_links.size() < m_topology.linkSource.size())
    {
        MakeLink();
    }
    MakeLinkIds();
    for (Rank node = 0; node < m_held.size(); ++node)
    {
        for (Segment* segment : std::exchange(m_held[node], {}))
        {
            if (const uint32_t link = FindLink(segment, node); link != CircuitNetwork::NONE)
            {
                m_links[link]->Readmit(segment);
            }
        }
    }
    for (FlowId flow = 0; flow < GetFlowCount(); ++flow)
    {
        if (m_senders[flow].isPaused && !GetPath(flow).empty())
        {
            ResumeFlow(flow);
        }
    }
}

void
CircuitExpressFabric::ResumeFlow(FlowId flow)
{
    Sender& sender = m_senders[flow];
    sender.isPaused = false;
    if (m_connections[flow].sender)
    {
        m_connections[flow].sender->Resume();
    }
    for (Segment* segment : std::exchange(sender.received, {}))
    {
        Reach(segment);
    }
    if (const uint64_t bytes = std::exchange(sender.submitted, 0); bytes > 0)
    {
        ExpressFabric::Submit(flow, bytes);
    }
}

std::unique_ptr<Fabric>
MakeCircuitExpressFabric(const Topology& topology, const Settings& settings)
{
    return std::make_unique<CircuitExpressFabric>(topology, settings);
}

} // namespace cosim
