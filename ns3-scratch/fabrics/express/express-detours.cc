/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-detours.h"

#include "fabrics/express/express-fabric.h"
#include "network/flow-hash.h"

#include "ns3/simulator.h"

namespace cosim
{

using namespace ns3;

ExpressDetours::ExpressDetours(const Topology& topology, ExpressFabric& fabric)
    : m_topology(topology),
      m_fabric(fabric),
      m_routes(topology, fabric.m_liveLinks, DetourRoutes::Broken::STAYS),
      m_choices(topology.spread == PathSpread::FLOW ? 0 : topology.pathSource.size()),
      m_lostUntilPs(topology.linkSource.size(), -1),
      m_arrivals(topology.linkSource.size()),
      m_order(topology.pathSource.size())
{
}

bool
ExpressDetours::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    for (FlowId flow = 0; flow < bytes.size(); ++flow)
    {
        bytes[flow] += m_fabric.GetUndelivered(flow);
    }
    return false;
}

void
ExpressDetours::Pause()
{ // a failure does not stop the other packets
}

std::vector<uint32_t>
ExpressDetours::GetBrokenPaths() const
{
    return m_routes.GetBrokenPaths();
}

void
ExpressDetours::Resume()
{
}

void
ExpressDetours::ApplyLinks(std::span<const LinkUpdate> updates)
{
    std::vector<std::vector<Packet*>> queued(updates.size());
    for (std::size_t i = 0; i < updates.size(); ++i)
    {
        m_fabric.m_links[updates[i].link]->Withdraw(queued[i]);
    }
    m_routes.Apply(updates);
    for (std::size_t i = 0; i < updates.size(); ++i)
    {
        const uint32_t link = updates[i].link;
        m_fabric.SetLink(link);
        if (!updates[i].state.isUp)
        {
            m_lostUntilPs[link] = m_fabric.m_links[link]->GetLastArrivalPs();
        }
        for (Packet* packet : queued[i])
        {
            if (updates[i].state.isUp)
            {
                m_fabric.m_links[link]->Readmit(packet);
            }
            else
            {
                Lose(link, packet);
            }
        }
    }
}

uint32_t
ExpressDetours::Reroute()
{
    ++m_generation;
    return m_routes.Reroute();
}

void
ExpressDetours::Carry(Packet* packet)
{
    const FlowId flow = packet->flow;
    const FlowId path = packet->toSender ? m_fabric.m_connections[flow].reverse : flow;
    if (!packet->toSender)
    {
        m_order.Send(*packet);
    }
    packet->path = m_choices.empty() ? m_routes.GetPath(path) : ChoosePath(path);
    m_fabric.Enter(packet->path.front(), packet);
}

/// @return the path of the next packet in one direction of a flow
std::span<const uint32_t>
ExpressDetours::ChoosePath(FlowId path)
{
    Choice& choice = m_choices[path];
    if (choice.generation != m_generation)
    {
        choice.paths = m_routes.FindAlternatives(path, MOST_PATHS);
        choice.generation = m_generation;
    }
    if (choice.paths.empty())
    {
        return m_routes.GetPath(path);
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    const auto gap = static_cast<int64_t>(m_topology.flowletGapPs);
    if (m_topology.spread == PathSpread::PACKET || now - choice.lastPs > gap)
    {
        ++choice.next;
    }
    choice.lastPs = now;
    return choice.paths[choice.next % choice.paths.size()];
}

void
ExpressDetours::OnLinkArrival(Packet* packet)
{
    if (IsLost(*packet))
    {
        Lose(packet->path[packet->hop], packet);
        return;
    }
    if (!packet->toSender && packet->hop + 1U == packet->path.size())
    {
        m_order.Arrive(*packet);
    }
    m_fabric.Forward(packet);
}

/// @return true if a link has lost the packet that arrives at its end now
bool
ExpressDetours::IsLost(const Packet& packet)
{
    const uint32_t link = packet.path[packet.hop];
    if (Simulator::Now().GetTimeStep() <= m_lostUntilPs[link])
    {
        return true;
    }
    const uint32_t loss = m_fabric.m_liveLinks.Get(link).lossPpb;
    if (loss == 0)
    {
        return false;
    }
    constexpr uint64_t all = 1'000'000'000;
    const auto seed = static_cast<uint32_t>(m_topology.lossSeed);
    return HashFlow(seed, link, 0, m_arrivals[link]++) % all < loss;
}

void
ExpressDetours::Lose(uint32_t link, Packet* packet)
{
    ++m_losses;
    m_fabric.ReportDrop(link, packet->wireBytes);
    m_fabric.m_transport->Release(packet);
}

} // namespace cosim
