/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-link-control.h"

#include "fabrics/flow/flow-fabric.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace cosim
{

FlowLinkControl::FlowLinkControl(const Topology& topology, FlowFabric& fabric)
    : m_topology(topology),
      m_fabric(fabric),
      m_routes(MakeLinkRoutes(topology, fabric.m_liveLinks)),
      m_states(topology.pathSource.size()),
      m_linkCounters(topology.linkSource.size()),
      m_carried(topology.linkSource.size())
{
    UpdateLinked(ListPaths(topology));
    for (uint32_t id = 0; id < m_states.size(); ++id)
    {
        if (m_fabric.m_liveLinks.GetPath(id).empty())
        {
            PausePath(id, 0);
        }
    }
}

bool
FlowLinkControl::MeasureDemand(std::vector<uint64_t>& bytes) const
{
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : m_busy)
    {
        const FlowStreams::Path& path = m_fabric.m_paths[id];
        for (uint32_t i = path.first; i != FlowStreams::NONE; i = m_fabric.m_paths.Get(i).next)
        {
            bytes[id] += std::max<uint64_t>(m_fabric.m_paths.Get(i).bytes, 1);
        }
        if (path.first != FlowStreams::NONE)
        { // a part of the first message has left
            const FlowStreams::Message& message = m_fabric.m_paths.Get(path.first);
            const uint64_t sent = m_fabric.m_paths.GetSent(path, now);
            const double left = static_cast<double>(message.wireBytes - sent);
            const double share = left / static_cast<double>(message.wireBytes);
            const auto size = std::max<uint64_t>(message.bytes, 1);
            bytes[id] -= size;
            bytes[id] += static_cast<uint64_t>(std::ceil(static_cast<double>(size) * share));
        }
    }
    return !m_fabric.m_delayed.IsEmpty();
}

void
FlowLinkControl::Pause()
{
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : m_linked)
    {
        m_fabric.FinishHops(id, now);
    }
    CountLinks();
    ForgetIdle();
    for (const uint32_t id : m_linked)
    {
        if (!m_states[id].isPaused)
        {
            PausePath(id, now);
        }
    }
}

/// Remove the paths without messages from the busy ones.
void
FlowLinkControl::ForgetIdle()
{
    std::erase_if(m_busy, [this](uint32_t id) {
        m_states[id].isBusy = m_fabric.m_paths[id].first != FlowStreams::NONE;
        return !m_states[id].isBusy;
    });
}

void
FlowLinkControl::PausePath(uint32_t id, uint64_t now)
{
    FlowStreams::Path& path = m_fabric.m_paths[id];
    FlowStreams::Advance(path, now);
    if (m_fabric.m_solver.IsActive(id))
    {
        m_fabric.m_solver.Stop(id);
    }
    path.rate = 0;
    path.doneAt = FlowStreams::NEVER;
    // Pretend that the path waits for a window, so that it does not send new messages either.
    m_states[id].isWaiting = std::exchange(path.isPaused, true);
    m_states[id].isPaused = true;
    m_states[id].pausedAt = now;
}

void
FlowLinkControl::ApplyLinks(std::span<const LinkUpdate> updates)
{
    const std::vector<uint32_t> changed = m_routes->Apply(updates);
    m_linkCounters.resize(m_fabric.m_liveLinks.GetCount());
    m_carried.resize(m_fabric.m_liveLinks.GetCount());
    for (const LinkUpdate& update : updates)
    {
        m_fabric.PrepareLink(update.link);
    }
    Follow(changed);
}

uint32_t
FlowLinkControl::Reroute()
{
    const uint32_t changed = m_routes->Reroute();
    Follow(ListPaths(m_topology));
    return changed;
}

std::vector<uint32_t>
FlowLinkControl::GetBrokenPaths() const
{
    return m_routes->GetBrokenPaths();
}

void
FlowLinkControl::Resume()
{
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : m_linked)
    {
        ResumePath(id, now);
    }
}

void
FlowLinkControl::ResumePath(uint32_t id, uint64_t now)
{
    FlowStreams::Path& path = m_fabric.m_paths[id];
    m_states[id].isPaused = false;
    path.isPaused = false;
    if (FlowStreams::Opening* opening = m_fabric.m_paths.GetOpening(path))
    {
        opening->startedAt += now - m_states[id].pausedAt;
        if (m_states[id].isWaiting)
        { // a path that needs no larger window does not wait any longer
            path.isPaused = true;
            m_fabric.PlanPath(id, std::max(opening->startedAt + opening->roundTrip, now));
            return;
        }
    }
    if (path.first != FlowStreams::NONE)
    {
        m_fabric.MarkDirty(id, now);
    }
}

/**
 * Prepare the fabric for changed paths.
 *
 * @param changed the paths whose links have changed, in increasing order
 */
void
FlowLinkControl::Follow(const std::vector<uint32_t>& changed)
{
    UpdateLinked(changed);
    // Acknowledgments on the links take the paths back, which may have changed as well.
    const bool isAlone = m_topology.reconfiguration.controlNetwork;
    const std::vector<uint32_t> affected = isAlone ? changed : ListPaths(m_topology);
    for (const uint32_t id : affected)
    {
        m_fabric.PreparePath(id);
    }
}

/// Update the list of the paths with links, after some paths have changed.
void
FlowLinkControl::UpdateLinked(const std::vector<uint32_t>& changed)
{
    std::vector<uint32_t> same;
    std::ranges::set_difference(m_linked, changed, std::back_inserter(same));
    std::vector<uint32_t> linked;
    std::ranges::copy_if(changed, std::back_inserter(linked), [this](uint32_t id) {
        return !m_fabric.m_liveLinks.GetPath(id).empty();
    });
    m_linked.clear();
    std::ranges::merge(same, linked, std::back_inserter(m_linked));
}

/// Add the bytes that the links have carried since the last change to their counters.
void
FlowLinkControl::CountLinks()
{
    AddUses(m_linkCounters, m_carried);
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : m_linked)
    {
        m_states[id].counted = m_fabric.m_paths.GetCarried(m_fabric.m_paths[id], now);
    }
}

/**
 * Add the bytes that the links have carried since the last change to counters.
 *
 * @param counters counters of each link
 * @param carried a buffer with 0 for each link, before and after the call
 */
void
FlowLinkControl::AddUses(std::vector<LinkCounters>& counters, std::vector<uint64_t>& carried) const
{
    const uint64_t now = m_fabric.Now();
    for (const uint32_t id : m_linked)
    {
        const uint64_t sum = m_fabric.m_paths.GetCarried(m_fabric.m_paths[id], now);
        for (const uint32_t link : m_fabric.m_liveLinks.GetPath(id))
        {
            carried[link] += sum - m_states[id].counted;
        }
    }
    for (const uint32_t id : m_linked)
    {
        for (const uint32_t link : m_fabric.m_liveLinks.GetPath(id))
        {
            const uint64_t wireBytes = std::exchange(carried[link], 0);
            counters[link].wireBytes += wireBytes;
            counters[link].busyPs += m_fabric.GetBusyPs(link, wireBytes);
        }
    }
}

std::vector<LinkCounters>
FlowLinkControl::GetLinkCounters() const
{
    std::vector<LinkCounters> counters = m_linkCounters;
    std::vector<uint64_t> carried(counters.size());
    AddUses(counters, carried);
    return counters;
}

} // namespace cosim
