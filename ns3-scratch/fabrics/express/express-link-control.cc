/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-link-control.h"

#include "fabrics/express/express-fabric.h"

#include "ns3/data-rate.h"
#include "ns3/simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

ExpressLinkControl::ExpressLinkControl(const Topology& topology, ExpressFabric& fabric)
    : m_topology(topology),
      m_fabric(fabric),
      m_routes(topology, fabric.m_liveLinks),
      m_held(topology.ranks),
      m_senders(fabric.GetFlowCount())
{
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        m_senders[flow].isPaused = m_fabric.GetPath(flow).empty();
    }
    MakeLinkIds();
}

void
ExpressLinkControl::MakeLinkIds()
{
    while (m_linkIds.size() < m_fabric.m_liveLinks.GetCount())
    {
        m_linkIds.push_back(static_cast<uint32_t>(m_linkIds.size()));
    }
}

bool
ExpressLinkControl::Hold(FlowId flow, uint64_t bytes)
{
    NoteDemand();
    if (m_senders[flow].isPaused)
    {
        m_senders[flow].submitted += bytes;
    }
    return m_senders[flow].isPaused;
}

/// @return the path that leads to the target of a packet
FlowId
ExpressLinkControl::GetPathOf(const Packet& packet) const
{
    return packet.toSender ? m_fabric.m_connections[packet.flow].reverse : packet.flow;
}

void
ExpressLinkControl::Carry(Packet* packet)
{
    if (packet->toSender && m_topology.reconfiguration.controlNetwork)
    {
        UseControlNetwork(packet);
    }
    else
    {
        SendOn(packet, m_topology.pathSource[GetPathOf(*packet)]);
    }
}

/// Send an acknowledgment over the control network next to the links.
void
ExpressLinkControl::UseControlNetwork(Packet* packet)
{
    const Reconfiguration& circuit = m_topology.reconfiguration;
    Simulator::Schedule(DataRate(circuit.circuitRateBps).CalculateBytesTxTime(packet->wireBytes) +
                            TimeStep(circuit.circuitLatencyPs),
                        &ExpressLinkControl::Deliver,
                        this,
                        packet);
}

void
ExpressLinkControl::OnLinkArrival(Packet* packet)
{
    const Rank node = m_fabric.m_liveLinks.Get(packet->path.front()).target;
    if (node == m_topology.pathTarget[GetPathOf(*packet)])
    {
        Deliver(packet);
    }
    else if (m_topology.forwardingDelayPs > 0)
    {
        Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                            &ExpressLinkControl::SendOn,
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
ExpressLinkControl::SendOn(Packet* packet, Rank node)
{
    if (m_isPaused)
    {
        m_held[node].push_back(packet);
    }
    else if (const uint32_t link = FindLink(packet, node); link != LinkRoutes::NONE)
    {
        m_fabric.Enter(link, packet);
    }
}

/**
 * @return the link on which a packet continues. NONE if the packet waits or took the control
 * network.
 */
uint32_t
ExpressLinkControl::FindLink(Packet* packet, Rank node)
{
    const uint32_t link = m_routes.GetNext(node, GetPathOf(*packet));
    if (link != LinkRoutes::NONE)
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
ExpressLinkControl::Deliver(Packet* packet)
{
    Sender& sender = m_senders[packet->flow];
    if (packet->toSender && sender.isPaused)
    {
        sender.received.push_back(packet);
        return;
    }
    m_fabric.Reach(packet);
}

bool
ExpressLinkControl::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        bytes[flow] += m_fabric.GetUndelivered(flow);
    }
    return false;
}

void
ExpressLinkControl::Pause()
{
    m_isPaused = true;
    for (uint32_t link = 0; link < m_fabric.m_links.size(); ++link)
    {
        m_fabric.m_links[link]->Withdraw(m_held[m_fabric.m_liveLinks.Get(link).source]);
    }
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        if (!std::exchange(m_senders[flow].isPaused, true) &&
            m_fabric.m_connections[flow].ends.sender)
        {
            m_fabric.m_connections[flow].ends.sender->Pause();
        }
    }
}

void
ExpressLinkControl::ApplyLinks(std::span<const LinkUpdate> updates)
{
    m_routes.Apply(updates);
    for (const LinkUpdate& update : updates)
    {
        m_fabric.SetLink(update.link);
    }
    MakeLinkIds();
}

void
ExpressLinkControl::Resume()
{
    m_isPaused = false;
    for (Rank node = 0; node < m_held.size(); ++node)
    {
        for (Packet* packet : std::exchange(m_held[node], {}))
        {
            if (const uint32_t link = FindLink(packet, node); link != LinkRoutes::NONE)
            {
                m_fabric.m_links[link]->Readmit(packet);
            }
        }
    }
    for (FlowId flow = 0; flow < m_senders.size(); ++flow)
    {
        if (m_senders[flow].isPaused && !m_fabric.GetPath(flow).empty())
        {
            ResumeFlow(flow);
        }
    }
}

void
ExpressLinkControl::ResumeFlow(FlowId flow)
{
    Sender& sender = m_senders[flow];
    sender.isPaused = false;
    if (m_fabric.m_connections[flow].ends.sender)
    {
        m_fabric.m_connections[flow].ends.sender->Resume();
    }
    for (Packet* packet : std::exchange(sender.received, {}))
    {
        m_fabric.Reach(packet);
    }
    if (const uint64_t bytes = std::exchange(sender.submitted, 0); bytes > 0)
    {
        m_fabric.Send(flow, bytes);
    }
}

} // namespace cosim
