/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/detour-router.h"

#include "network/flow-hash.h"

#include "ns3/simulator.h"

namespace cosim
{

using namespace ns3;

DetourRouter::DetourRouter(const DatapathSetup& setup,
                           DatapathClient& client,
                           ExpressLinks& links,
                           ExpressFlows& flows)
    : PathRouter(setup, links, flows),
      m_client(client),
      m_routes(m_topology, setup.links, DetourRoutes::Broken::STAYS),
      m_choices(m_topology.spread == PathSpread::FLOW ? 0 : m_topology.pathSource.size()),
      m_lostUntilPs(m_topology.linkSource.size(), -1),
      m_arrivals(m_topology.linkSource.size()),
      m_order(m_topology.pathSource.size())
{
}

void
DetourRouter::AddStatistics(NetworkStatistics& statistics) const
{
    statistics.refusals = m_links.GetRefusals();
    statistics.linkLosses = m_losses;
    statistics.reordering = m_order.Get();
    statistics.reordering->unneededRetransmissions = statistics.repeatedPackets;
}

bool
DetourRouter::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    m_client.AddUndelivered(bytes);
    return false;
}

void
DetourRouter::Pause()
{ // a failure does not stop the other packets
}

std::vector<uint32_t>
DetourRouter::GetBrokenPaths() const
{
    return m_routes.GetBrokenPaths();
}

void
DetourRouter::Resume()
{
}

void
DetourRouter::ApplyLinks(std::span<const LinkUpdate> updates)
{
    std::vector<std::vector<Packet*>> queued(updates.size());
    for (std::size_t i = 0; i < updates.size(); ++i)
    {
        m_links[updates[i].link].Withdraw(queued[i]);
    }
    m_routes.Apply(updates);
    for (std::size_t i = 0; i < updates.size(); ++i)
    {
        const uint32_t link = updates[i].link;
        m_links.Set(link);
        if (!updates[i].state.isUp)
        {
            m_lostUntilPs[link] = m_links[link].GetLastArrivalPs();
        }
        for (Packet* packet : queued[i])
        {
            if (updates[i].state.isUp)
            {
                m_links[link].Readmit(packet);
            }
            else
            {
                Lose(link, packet);
            }
        }
    }
}

uint32_t
DetourRouter::Reroute()
{
    ++m_generation;
    const uint32_t changed = m_routes.Reroute();
    if (m_onReroute)
    {
        m_onReroute();
    }
    return changed;
}

void
DetourRouter::Route(Packet& packet)
{
    const uint32_t path = m_flows.GetPathOf(packet);
    if (!packet.toSender)
    {
        m_order.Send(packet);
    }
    packet.path = m_choices.empty() ? m_routes.GetPath(path) : ChoosePath(path);
    m_flows.Classify(packet);
}

void
DetourRouter::Carry(Packet* packet)
{
    DetourRouter::Route(*packet);
    m_links.Enter(packet->path.front(), packet);
}

/// @return the path of the next packet in one direction of a flow
std::span<const uint32_t>
DetourRouter::ChoosePath(FlowId path)
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
DetourRouter::OnLinkArrival(Packet* packet)
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
    Forward(packet);
}

/// @return true if a link has lost the packet that arrives at its end now
bool
DetourRouter::IsLost(const Packet& packet)
{
    const uint32_t link = packet.path[packet.hop];
    if (Simulator::Now().GetTimeStep() <= m_lostUntilPs[link])
    {
        return true;
    }
    const uint32_t loss = m_states.Get(link).lossPpb;
    if (loss == 0)
    {
        return false;
    }
    constexpr uint64_t all = 1'000'000'000;
    const auto seed = static_cast<uint32_t>(m_topology.lossSeed);
    return HashFlow(seed, link, 0, m_arrivals[link]++) % all < loss;
}

void
DetourRouter::Lose(uint32_t link, Packet* packet)
{
    ++m_losses;
    m_links.Lose(link, packet);
}

} // namespace cosim
