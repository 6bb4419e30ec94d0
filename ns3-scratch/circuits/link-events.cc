/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/link-events.h"

#include "stream/path-table.h"

#include "ns3/simulator.h"

#include <set>

namespace cosim
{

using namespace ns3;

namespace
{

/// @return true if a kind of event decides whether links carry packets
bool
IsSwitching(EventKind kind)
{
    return kind == EventKind::LINK_DOWN || kind == EventKind::LINK_UP;
}

} // namespace

LinkEvents::LinkEvents(const Topology& topology, Fabric& fabric, const RunObservers& observers)
    : m_topology(topology),
      m_fabric(fabric),
      m_control(*fabric.GetLinkControl()),
      m_observers(observers),
      m_links(topology),
      m_downs(topology.linkSource.size())
{
    for (uint32_t event = 0; event < topology.events.size(); ++event)
    {
        if (topology.events[event].ChangesLinks())
        {
            m_pending += IsSwitching(topology.events[event].kind) ? 1 : 0;
            Simulator::Schedule(TimeStep(topology.events[event].timePs),
                                &LinkEvents::Happen,
                                this,
                                event);
        }
    }
    m_control.SetDemandListener(this);
}

LinkEvents::~LinkEvents()
{
    m_control.SetDemandListener(nullptr);
}

/// An event happens: change its links.
void
LinkEvents::Happen(uint32_t index)
{
    const NetworkEvent& event = m_topology.events[index];
    std::vector<LinkUpdate> updates;
    for (const uint32_t link : event.links)
    {
        LinkState state = m_links.Get(link);
        switch (event.kind)
        {
        case EventKind::LINK_DOWN:
            state.isUp = ++m_downs[link] == 0;
            break;
        case EventKind::LINK_UP:
            state.isUp = m_downs[link] == 0 || --m_downs[link] == 0;
            break;
        case EventKind::LINK_RATE:
            state.rateBps = event.rateBps;
            break;
        default:
            state.lossPpb = event.lossPpb;
        }
        updates.push_back({link, state});
    }
    m_links.Update(updates);
    m_last = index;
    m_control.Pause();
    m_control.ApplyLinks(updates);
    m_control.Resume();
    Report(index, false, 0);
    if (IsSwitching(event.kind))
    {
        if (m_topology.reroute)
        {
            Simulator::Schedule(TimeStep(m_topology.detectionPs), &LinkEvents::Follow, this, index);
        }
        else
        {
            --m_pending;
            ScheduleCheck();
        }
    }
}

/// The time to detect an event has passed: let paths follow it.
void
LinkEvents::Follow(uint32_t event)
{
    m_control.Pause();
    const uint32_t rerouted = m_control.Reroute();
    m_control.Resume();
    Report(event, true, rerouted);
    --m_pending;
    ScheduleCheck();
}

void
LinkEvents::Report(uint32_t event, bool isReroute, uint32_t rerouted)
{
    const auto broken = static_cast<uint32_t>(m_control.GetBrokenPaths().size());
    m_isBroken = broken > 0;
    const auto now = static_cast<uint64_t>(m_fabric.SimGetTime().GetTimeStep());
    for (RunObserver* observer : m_observers[RunObserver::LINKS])
    {
        observer->OnNetworkEvent({now, m_topology.events[event].text, isReroute, rerouted, broken});
    }
}

void
LinkEvents::OnDemand()
{
    ScheduleCheck();
}

/// Look for data without a path, if no event is left that could give it one.
void
LinkEvents::ScheduleCheck()
{
    if (m_isBroken && m_pending == 0 && !m_isChecking)
    {
        m_isChecking = true;
        Simulator::ScheduleNow(&LinkEvents::CheckDemand, this);
    }
}

void
LinkEvents::CheckDemand()
{
    m_isChecking = false;
    std::vector<uint64_t> bytes(m_topology.pathSource.size());
    m_control.MeasureDemand(bytes);
    std::set<uint64_t> broken;
    for (const uint32_t path : m_control.GetBrokenPaths())
    { // data needs the way to its target, and its acknowledgments need the way back
        const uint32_t source = m_topology.pathSource[path];
        const uint32_t target = m_topology.pathTarget[path];
        broken.insert(PairOf(source, target));
        broken.insert(PairOf(target, source));
    }
    std::string pairs;
    uint32_t count = 0;
    uint64_t waiting = 0;
    for (std::size_t path = 0; path < bytes.size(); ++path)
    {
        const uint32_t source = m_topology.pathSource[path];
        const uint32_t target = m_topology.pathTarget[path];
        if (bytes[path] > 0 && broken.contains(PairOf(source, target)))
        {
            constexpr uint32_t most = 8;
            if (++count <= most)
            {
                pairs += (count == 1 ? "" : ", ") + std::to_string(source) + " to " +
                         std::to_string(target);
            }
            waiting += bytes[path];
        }
    }
    if (waiting > 0)
    {
        m_fabric.Fail("the network is divided since " + m_topology.events[m_last].text + ": " +
                      std::to_string(waiting) + " bytes wait for a path between " +
                      std::to_string(count) + (count == 1 ? " pair" : " pairs") +
                      " of ranks, from rank " + pairs + (count > 8 ? " …" : ""));
    }
}

std::unique_ptr<LinkEvents>
MakeLinkEvents(const Topology& topology, Fabric& fabric, const RunObservers& observers)
{
    return topology.HasLinkEvents() ? std::make_unique<LinkEvents>(topology, fabric, observers)
                                    : nullptr;
}

} // namespace cosim
