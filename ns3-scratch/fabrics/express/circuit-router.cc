/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/circuit-router.h"

#include "ns3/data-rate.h"
#include "ns3/simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

CircuitRouter::CircuitRouter(const DatapathSetup& setup,
                             DatapathClient& client,
                             ExpressLinks& links,
                             ExpressFlows& flows)
    : m_topology(setup.topology),
      m_states(setup.links),
      m_client(client),
      m_links(links),
      m_flows(flows),
      m_routes(setup.topology, setup.links),
      m_held(setup.topology.ranks),
      m_senders(setup.topology.pathSource.size())
{
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        m_senders[flow].isPaused = m_states.GetPath(flow).empty();
    }
    MakeLinkIds();
}

void
CircuitRouter::MakeLinkIds()
{
    while (m_linkIds.size() < m_states.GetCount())
    {
        m_linkIds.push_back(static_cast<uint32_t>(m_linkIds.size()));
    }
}

bool
CircuitRouter::Hold(FlowId flow, uint64_t bytes)
{
    NoteDemand();
    if (m_senders[flow].isPaused)
    {
        m_senders[flow].submitted += bytes;
    }
    return m_senders[flow].isPaused;
}

void
CircuitRouter::Carry(Packet* packet)
{
    if (packet->toSender && m_topology.reconfiguration.controlNetwork)
    {
        UseControlNetwork(packet);
    }
    else
    {
        SendOn(packet, m_topology.pathSource[m_flows.GetPathOf(*packet)]);
    }
}

/// Send an acknowledgment over the control network next to the links.
void
CircuitRouter::UseControlNetwork(Packet* packet)
{
    const Reconfiguration& circuit = m_topology.reconfiguration;
    Simulator::Schedule(DataRate(circuit.circuitRateBps).CalculateBytesTxTime(packet->wireBytes) +
                            TimeStep(circuit.circuitLatencyPs),
                        &CircuitRouter::Deliver,
                        this,
                        packet);
}

void
CircuitRouter::OnLinkArrival(Packet* packet)
{
    const Rank node = m_states.Get(packet->path.front()).target;
    if (node == m_topology.pathTarget[m_flows.GetPathOf(*packet)])
    {
        Deliver(packet);
    }
    else if (m_topology.forwardingDelayPs > 0)
    {
        Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                            &CircuitRouter::SendOn,
                            this,
                            packet,
                            node);
    }
    else
    {
        SendOn(packet, node);
    }
}

/// Forward a packet from a rank that is not its target.
void
CircuitRouter::SendOn(Packet* packet, Rank node)
{
    if (m_isPaused)
    {
        m_held[node].push_back(packet);
    }
    else if (const uint32_t link = FindLink(packet, node); link != CircuitRoutes::NONE)
    {
        m_links.Enter(link, packet);
    }
}

/**
 * @return the link on which a packet continues. NONE if the packet waits or took the control
 * network.
 */
uint32_t
CircuitRouter::FindLink(Packet* packet, Rank node)
{
    const uint32_t link = m_routes.GetNext(node, m_flows.GetPathOf(*packet));
    if (link != CircuitRoutes::NONE)
    {
        packet->path = {&m_linkIds[link], 1};
    }
    else if (packet->toSender)
    {
        UseControlNetwork(packet);
    }
    else
    {
        m_held[node].push_back(packet);
    }
    return link;
}

/// Deliver a packet that has reached its target.
void
CircuitRouter::Deliver(Packet* packet)
{
    Sender& sender = m_senders[packet->flow];
    if (packet->toSender && sender.isPaused)
    {
        sender.received.push_back(packet);
        return;
    }
    m_flows.Reach(packet);
}

bool
CircuitRouter::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    m_client.AddUndelivered(bytes);
    return false;
}

void
CircuitRouter::Pause()
{
    m_isPaused = true;
    for (uint32_t link = 0; link < m_links.GetCount(); ++link)
    {
        m_links[link].Withdraw(m_held[m_states.Get(link).source]);
    }
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        FlowSender* const sender = m_flows.GetSender(flow);
        if (!std::exchange(m_senders[flow].isPaused, true) && sender != nullptr)
        {
            static_cast<PausableSender*>(sender)->Pause();
        }
    }
}

void
CircuitRouter::ApplyLinks(std::span<const LinkUpdate> updates)
{
    m_routes.Apply(updates);
    for (const LinkUpdate& update : updates)
    {
        m_links.Set(update.link);
    }
    MakeLinkIds();
}

void
CircuitRouter::Resume()
{
    m_isPaused = false;
    for (Rank node = 0; node < m_held.size(); ++node)
    {
        for (Packet* packet : std::exchange(m_held[node], {}))
        {
            if (const uint32_t link = FindLink(packet, node); link != CircuitRoutes::NONE)
            {
                m_links[link].Readmit(packet);
            }
        }
    }
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        if (m_senders[flow].isPaused && !m_states.GetPath(flow).empty())
        {
            ResumeFlow(flow);
        }
    }
}

void
CircuitRouter::ResumeFlow(FlowId flow)
{
    Sender& sender = m_senders[flow];
    sender.isPaused = false;
    if (FlowSender* const end = m_flows.GetSender(flow); end != nullptr)
    {
        static_cast<PausableSender*>(end)->Resume();
    }
    for (Packet* packet : std::exchange(sender.received, {}))
    {
        m_flows.Reach(packet);
    }
    if (const uint64_t bytes = std::exchange(sender.submitted, 0); bytes > 0)
    {
        m_flows.Send(flow, bytes);
    }
}

} // namespace cosim
