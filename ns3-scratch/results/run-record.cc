/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/run-record.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace cosim
{

namespace
{

/// Forget all but the longest pauses; of equal ones, keep the earlier.
void
KeepLongest(std::vector<PortPause>& pauses, std::size_t most)
{
    if (pauses.size() <= most)
    {
        return;
    }
    const auto rank = [](const PortPause& pause) {
        return std::tuple(UINT64_MAX - (pause.endPs - pause.startPs),
                          pause.startPs,
                          pause.link,
                          pause.trafficClass);
    };
    std::ranges::nth_element(
        pauses,
        pauses.begin() + static_cast<std::ptrdiff_t>(most),
        [&rank](const PortPause& a, const PortPause& b) { return rank(a) < rank(b); });
    pauses.resize(most);
}

} // namespace

CollectiveRecord::CollectiveRecord(const Stream& stream)
    : m_times(stream.collectives.size())
{
    for (const Collective& collective : stream.collectives)
    {
        m_times[collective.id].ranksLeft = stream.CountRanks(collective);
    }
}

void
CollectiveRecord::OnCollectiveBegun(const CollectiveEvent& event)
{
    uint64_t& start = m_times[event.collective->id].start;
    start = std::min(start, event.timePs);
}

void
CollectiveRecord::OnCollectiveEnded(const CollectiveEvent& event)
{
    Times& times = m_times[event.collective->id];
    times.end = event.timePs;
    --times.ranksLeft;
}

JobRecord::JobRecord(const Stream& stream)
{
    for (const Trace& trace : stream.traces)
    {
        m_jobs.resize(trace.jobs.size());
        for (std::size_t i = 0; i < trace.jobs.size(); ++i)
        {
            m_jobs[i].name = trace.jobs[i];
        }
        for (std::size_t node = 0; node < trace.job.size(); ++node)
        {
            if (trace.job[node] != 0)
            {
                std::vector<Iteration>& iterations = m_jobs[trace.job[node] - 1].iterations;
                const std::size_t index = trace.iteration[node];
                iterations.resize(std::max(iterations.size(), index + 1));
                iterations[index].nodesLeft += trace.ranks.size();
            }
        }
    }
}

/// @return the job of a node, or null if it has none
JobRecord::Job*
JobRecord::FindJob(const NodeEvent& event)
{
    const std::vector<uint32_t>& jobs = event.trace->job;
    return jobs.empty() || jobs[event.node] == 0 ? nullptr : &m_jobs[jobs[event.node] - 1];
}

void
JobRecord::OnNodeBegun(const NodeEvent& event)
{
    if (Job* job = FindJob(event))
    {
        job->start = std::min(job->start, event.timePs);
    }
}

void
JobRecord::OnNodeEnded(const NodeEvent& event)
{
    if (Job* job = FindJob(event))
    {
        Iteration& iteration = job->iterations[event.trace->iteration[event.node]];
        iteration.end = event.timePs;
        --iteration.nodesLeft;
    }
}

SharedLinks::SharedLinks(const Topology& topology)
    : m_topology(topology),
      m_pathOf(topology.sharedLinks > 0 ? topology.GetEndpoints() : 0,
               topology.sharedLinks > 0 ? topology.pathSource : std::vector<uint32_t>(),
               topology.sharedLinks > 0 ? topology.pathTarget : std::vector<uint32_t>()),
      m_bytes(topology.sharedLinks > 0 ? topology.pathSource.size() : 0),
      m_isUsed(m_bytes.size())
{
}

void
SharedLinks::OnMessageDelivered(const MessageEvent& event)
{
    const uint32_t path = m_pathOf.Find(event.src, event.dst) + event.route;
    m_bytes[path] += event.bytes;
    m_isUsed[path] = true;
}

std::vector<SharedLink>
SharedLinks::GetLinks() const
{
    std::vector<SharedLink> links(m_topology.linkSource.size());
    for (uint32_t link = 0; link < links.size(); ++link)
    {
        links[link].link = link;
    }
    for (uint32_t path = 0; path < m_bytes.size(); ++path)
    {
        const uint32_t simulated = m_topology.folding.GetPath(path);
        if (!m_isUsed[simulated])
        {
            continue;
        }
        for (const uint32_t link : m_topology.GetLinks(path))
        {
            links[link].bytes += m_bytes[simulated];
            links[link].paths.push_back(path);
        }
    }
    std::erase_if(links, [this](const SharedLink& one) {
        return one.paths.size() < 2 || m_topology.linkSource[one.link] < m_topology.ranks ||
               m_topology.linkTarget[one.link] < m_topology.ranks;
    });
    std::stable_sort(links.begin(), links.end(), [](const SharedLink& a, const SharedLink& b) {
        return std::pair(a.paths.size(), a.bytes) > std::pair(b.paths.size(), b.bytes);
    });
    links.resize(std::min<std::size_t>(links.size(), m_topology.sharedLinks));
    return links;
}

void
PauseRecord::OnPortPaused(const PortPauseEvent& event)
{
    m_running[{event.link, event.trafficClass}] = {event.timePs,
                                                   event.timePs,
                                                   event.link,
                                                   event.source,
                                                   event.target,
                                                   event.hops,
                                                   event.trafficClass};
}

void
PauseRecord::OnPortResumed(const PortPauseEvent& event)
{
    const auto running = m_running.find({event.link, event.trafficClass});
    if (running == m_running.end())
    { // it was paused before the run was observed
        return;
    }
    m_ended.push_back(running->second);
    m_ended.back().endPs = event.timePs;
    m_running.erase(running);
    if (m_ended.size() >= 2 * KEPT)
    {
        KeepLongest(m_ended, KEPT);
    }
}

std::vector<PortPause>
PauseRecord::GetLongest(uint64_t nowPs, std::size_t most) const
{
    std::vector<PortPause> pauses = m_ended;
    for (const auto& [at, pause] : m_running)
    {
        pauses.push_back(pause);
        pauses.back().endPs = nowPs;
    }
    KeepLongest(pauses, most);
    std::ranges::sort(pauses, [](const PortPause& a, const PortPause& b) {
        return std::tuple(a.startPs, a.link, a.trafficClass) <
               std::tuple(b.startPs, b.link, b.trafficClass);
    });
    return pauses;
}

} // namespace cosim
