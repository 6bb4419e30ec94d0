/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/analytical-fabric.h"

#include <algorithm>

namespace cosim
{

Repeatable*
AnalyticalFabric::GetRepeatable()
{
    return this;
}

bool
AnalyticalFabric::IsAtRest() const
{
    // All messages have arrived, so no link is busy: a message arrives after it has left its links.
    return IsIdle() && m_inTransit.GetTaken() == 0;
}

int64_t
AnalyticalFabric::AddState(StateDigest& digest) const
{
    m_stalls.AddState(digest, Now());
    m_windows.AddState(digest, Now());
    return std::max(m_stalls.GetHistoryPs(), m_windows.GetHistoryPs());
}

NetworkCounters
AnalyticalFabric::GetCounters() const
{
    NetworkCounters counters = GetSharedCounters();
    counters.links.reserve(m_links.size());
    for (const Link& link : m_links)
    {
        LinkCounters& one = counters.links.emplace_back();
        one.busyPs = static_cast<int64_t>(link.busy);
        one.wireBytes = link.wireBytes;
    }
    return counters;
}

uint64_t
AnalyticalFabric::LimitRepeats(const NetworkCounters& from, uint64_t times) const
{
    return m_completionPs.LimitRepeats(from.completionPs, times);
}

void
AnalyticalFabric::Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs)
{
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        m_links[i].busy += times * (m_links[i].busy - static_cast<uint64_t>(from.links[i].busyPs));
        m_links[i].wireBytes += times * (m_links[i].wireBytes - from.links[i].wireBytes);
    }
    m_stalls.Shift(times * periodPs);
    m_windows.Shift(times * periodPs);
    RepeatShared(from, times, periodPs);
}

} // namespace cosim
