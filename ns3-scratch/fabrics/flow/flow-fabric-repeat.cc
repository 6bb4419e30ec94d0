/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-fabric.h"

#include <algorithm>

namespace cosim
{

Repeatable*
FlowFabric::GetRepeatable()
{
    return m_linkControl ? nullptr : this;
}

bool
FlowFabric::IsAtRest() const
{
    return IsIdle() && m_delayed.IsEmpty() && m_dirty.empty() && m_paths.IsEmpty();
}

int64_t
FlowFabric::AddState(StateDigest& digest) const
{
    m_solver.AddState(digest);
    for (uint32_t id = 0; id < m_paths.GetCount(); ++id)
    {
        if (const Opening* opening = m_paths.GetOpening(m_paths[id]))
        {
            digest.Add(id);
            digest.AddDouble(opening->window);
            digest.AddDouble(m_paths[id].windowLeft);
            // A window that began a round trip ago gives way to the next one, however old it is.
            digest.Add(std::min(Now() - opening->startedAt, opening->roundTrip));
        }
    }
    return -1;
}

NetworkCounters
FlowFabric::GetCounters() const
{
    NetworkCounters counters = GetSharedCounters();
    counters.carried.reserve(m_paths.GetCount());
    for (uint32_t id = 0; id < m_paths.GetCount(); ++id)
    {
        counters.carried.push_back(m_paths[id].carried);
    }
    return counters;
}

uint64_t
FlowFabric::LimitRepeats(const NetworkCounters& from, uint64_t times) const
{
    return m_completionPs.LimitRepeats(from.completionPs, times);
}

void
FlowFabric::Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs)
{
    for (uint32_t id = 0; id < m_paths.GetCount(); ++id)
    {
        Path& path = m_paths[id];
        path.carried += times * (path.carried - from.carried[id]);
        if (Opening* opening = m_paths.GetOpening(path))
        {
            opening->startedAt += times * periodPs;
        }
    }
    RepeatShared(from, times, periodPs);
}

} // namespace cosim
