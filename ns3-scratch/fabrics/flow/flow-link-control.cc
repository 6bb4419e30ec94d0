/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-link-control.h"

#include "fabrics/flow/flow-fabric.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosim
{

FlowLinkControl::FlowLinkControl(const Topology& topology, FlowFabric& fabric)
    : m_fabric(fabric),
      m_routes(MakeLinkRoutes(topology, fabric.m_liveLinks)),
      m_states(topology.pathSource.size()),
      m_linkCounters(topology.linkSource.size())
{
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
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
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
    CountLinks();
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
    {
        if (!m_states[id].isPaused)
        {
            PausePath(id, now);
        }
    }
}

void
FlowLinkControl::PausePath(uint32_t id, uint64_t now)
{
    FlowStreams::Path& path = m_fabric.m_paths[id];
    m_fabric.m_paths.Advance(path, now);
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
    m_routes->Apply(updates);
    m_linkCounters.resize(m_fabric.m_liveLinks.GetCount());
    PreparePaths();
}

uint32_t
FlowLinkControl::Reroute()
{
    const uint32_t changed = m_routes->Reroute();
    PreparePaths();
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
    for (uint32_t id = 0; id < m_states.size(); ++id)
    {
        if (!m_fabric.m_liveLinks.GetPath(id).empty())
        {
            ResumePath(id, now);
        }
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

/// Prepare all paths again for the current links.
void
FlowLinkControl::PreparePaths()
{
    const std::vector<FlowStreams::Opening> before = m_fabric.m_paths.TakeOpenings();
    std::vector<uint32_t> openingOf;
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
    {
        FlowStreams::Path& path = m_fabric.m_paths[id];
        openingOf.push_back(std::exchange(path.opening, FlowStreams::NONE));
        path.latency = 0;
        path.forwardingPs = 0;
    }
    m_fabric.m_solver = m_fabric.MakeSolver();
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
    {
        FlowStreams::Path& path = m_fabric.m_paths[id];
        FlowStreams::Opening* opening = m_fabric.m_paths.GetOpening(path);
        if (openingOf[id] != FlowStreams::NONE && opening != nullptr)
        { // continue with the same window
            const FlowStreams::Opening& old = before[openingOf[id]];
            opening->window = old.window;
            opening->left = old.left;
            opening->startedAt = old.startedAt;
        }
        else if (m_states[id].counted > 0)
        { // slow start has ended or was never needed
            path.opening = FlowStreams::NONE;
        }
    }
}

/// Add the bytes that the links have carried since the last change to their counters.
void
FlowLinkControl::CountLinks()
{
    m_linkCounters = GetLinkCounters();
    const uint64_t now = m_fabric.Now();
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
    {
        m_states[id].counted = m_fabric.m_paths.GetCarried(m_fabric.m_paths[id], now);
    }
}

std::vector<LinkCounters>
FlowLinkControl::GetLinkCounters() const
{
    const uint64_t now = m_fabric.Now();
    std::vector<uint64_t> carried;
    carried.reserve(m_fabric.m_paths.GetCount());
    for (uint32_t id = 0; id < m_fabric.m_paths.GetCount(); ++id)
    {
        const uint64_t sum = m_fabric.m_paths.GetCarried(m_fabric.m_paths[id], now);
        carried.push_back(sum - m_states[id].counted);
    }
    std::vector<LinkCounters> uses = m_fabric.CountUses(carried);
    for (std::size_t i = 0; i < m_linkCounters.size(); ++i)
    {
        uses[i].wireBytes += m_linkCounters[i].wireBytes;
        uses[i].busyPs += m_linkCounters[i].busyPs;
    }
    return uses;
}

} // namespace cosim
