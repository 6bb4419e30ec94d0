/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/circuit-flow-fabric.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cosim
{

CircuitFlowFabric::CircuitFlowFabric(const Topology& topology, const Settings& settings)
    : CircuitSwitch(topology),
      FlowFabric(GetCircuits().GetTopology(), settings),
      m_past(topology.pathSource.size()),
      m_linkCounters(topology.linkSource.size())
{
    for (uint32_t id = 0; id < m_past.size(); ++id)
    {
        if (!HasLinks(id))
        {
            PausePath(id, 0);
        }
    }
}

void
CircuitFlowFabric::SetObservers(const RunObservers& observers)
{
    CircuitSwitch::SetObservers(observers);
    FlowFabric::SetObservers(observers);
}

const std::vector<ReconfigurationRecord>*
CircuitFlowFabric::GetReconfigurations() const
{
    return &GetRecords();
}

void
CircuitFlowFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    NoteDemand();
    FlowFabric::Launch(cargo, at, now);
}

bool
CircuitFlowFabric::HasLinks(uint32_t id) const
{
    return m_topology.pathBegin[id] != m_topology.pathBegin[id + 1];
}

bool
CircuitFlowFabric::Measure(std::vector<uint64_t>& bytes) const
{
    const uint64_t now = Now();
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        for (uint32_t i = m_paths[id].first; i != NONE; i = m_messages[i].next)
        {
            bytes[id] += std::max<uint64_t>(m_messages[i].bytes, 1);
        }
        if (const uint32_t first = m_paths[id].first; first != NONE)
        { // of the first message, a part has left
            const Message& message = m_messages[first];
            const double left = static_cast<double>(message.wireBytes - GetSent(id, now));
            const double share = left / static_cast<double>(message.wireBytes);
            const auto size = std::max<uint64_t>(message.bytes, 1);
            bytes[id] -= size;
            bytes[id] += static_cast<uint64_t>(std::ceil(static_cast<double>(size) * share));
        }
    }
    return !m_delayed.IsEmpty();
}

void
CircuitFlowFabric::Pause()
{
    const uint64_t now = Now();
    CountLinks();
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        if (!m_past[id].isPaused)
        {
            PausePath(id, now);
        }
    }
}

void
CircuitFlowFabric::PausePath(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    Advance(path, now);
    if (m_solver.IsActive(id))
    {
        m_solver.Stop(id);
    }
    path.rate = 0;
    path.doneAt = NEVER;
    // As if it waited for a window: whatever is handed to it, it does not send.
    m_past[id].isWaiting = std::exchange(path.isPaused, true);
    m_past[id].isPaused = true;
    m_past[id].pausedAt = now;
}

void
CircuitFlowFabric::Resume()
{
    const uint64_t now = Now();
    ChangeLinks();
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        if (HasLinks(id))
        {
            ResumePath(id, now);
        }
    }
}

void
CircuitFlowFabric::ResumePath(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    m_past[id].isPaused = false;
    path.isPaused = false;
    if (path.opening != NONE)
    {
        Opening& opening = m_openings[path.opening];
        opening.startedAt += now - m_past[id].pausedAt;
        if (m_past[id].isWaiting)
        { // on a path that needs no greater window it waits no longer
            path.isPaused = true;
            PlanPath(id, std::max(opening.startedAt + opening.roundTrip, now));
            return;
        }
    }
    if (path.first != NONE)
    {
        MarkDirty(id, now);
    }
}

/// Let the paths be as the topology has them now.
void
CircuitFlowFabric::ChangeLinks()
{
    std::vector<Opening> before = std::exchange(m_openings, {});
    std::vector<uint32_t> openingOf;
    for (Path& path : m_paths)
    {
        openingOf.push_back(std::exchange(path.opening, NONE));
        path.latency = 0;
        path.forwardingPs = 0;
    }
    m_solver = MakeSolver();
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        Path& path = m_paths[id];
        if (openingOf[id] != NONE && path.opening != NONE)
        { // it goes on with its window
            Opening& opening = m_openings[path.opening];
            const Opening& old = before[openingOf[id]];
            opening.window = old.window;
            opening.left = old.left;
            opening.startedAt = old.startedAt;
        }
        else if (m_past[id].counted > 0)
        { // slow start is over, or was never needed
            path.opening = NONE;
        }
    }
    m_linkCounters.resize(m_topology.linkSource.size());
}

/// Add what the links carried since the last change to their counters.
void
CircuitFlowFabric::CountLinks()
{
    m_linkCounters = GetLinkCounters();
    const uint64_t now = Now();
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        m_past[id].counted = GetCarried(id, now);
    }
}

std::vector<LinkCounters>
CircuitFlowFabric::GetLinkCounters() const
{
    const uint64_t now = Now();
    std::vector<uint64_t> carried;
    carried.reserve(m_paths.size());
    for (uint32_t id = 0; id < m_paths.size(); ++id)
    {
        carried.push_back(GetCarried(id, now) - m_past[id].counted);
    }
    std::vector<LinkCounters> uses = CountUses(carried);
    for (std::size_t i = 0; i < m_linkCounters.size(); ++i)
    {
        uses[i].wireBytes += m_linkCounters[i].wireBytes;
        uses[i].busyPs += m_linkCounters[i].busyPs;
    }
    return uses;
}

std::unique_ptr<Fabric>
MakeCircuitFlowFabric(const Topology& topology, const Settings& settings)
{
    return std::make_unique<CircuitFlowFabric>(topology, settings);
}

} // namespace cosim
