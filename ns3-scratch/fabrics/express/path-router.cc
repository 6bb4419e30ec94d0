/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/path-router.h"

#include "ns3/simulator.h"

namespace cosim
{

using namespace ns3;

PathRouter::PathRouter(const DatapathSetup& setup, ExpressLinks& links, ExpressFlows& flows)
    : m_topology(setup.topology),
      m_states(setup.links),
      m_links(links),
      m_flows(flows)
{
}

void
PathRouter::Route(Packet& packet)
{
    packet.path = m_states.GetPath(m_flows.GetPathOf(packet));
    m_flows.Classify(packet);
}

void
PathRouter::Carry(Packet* packet)
{
    PathRouter::Route(*packet);
    m_links.Enter(packet->path.front(), packet);
}

void
PathRouter::OnLinkArrival(Packet* packet)
{
    Forward(packet);
}

void
PathRouter::Forward(Packet* packet)
{
    if (++packet->hop == packet->path.size())
    {
        m_flows.Reach(packet);
        return;
    }
    const uint32_t link = packet->path[packet->hop];
    if (m_topology.forwardingDelayPs > 0 && m_states.Get(link).source < m_topology.ranks)
    { // a rank forwards the packet
        Simulator::Schedule(TimeStep(m_topology.forwardingDelayPs),
                            &ExpressLinks::Enter,
                            &m_links,
                            link,
                            packet);
        return;
    }
    m_links.Enter(link, packet);
}

} // namespace cosim
