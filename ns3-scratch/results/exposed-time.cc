/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/exposed-time.h"

#include <algorithm>

namespace cosim
{

ExposedTime::ExposedTime(const Stream& stream, TimingRecord& timing)
    : m_timing(timing),
      m_workers(stream.topology.ranks)
{
    for (const Trace& trace : stream.traces)
    {
        for (const Rank rank : trace.ranks)
        {
            Worker& worker = m_workers[rank];
            worker.nodesLeft = trace.type.size();
            worker.start.resize(worker.nodesLeft);
            worker.end.resize(worker.nodesLeft);
        }
    }
}

uint32_t
ExposedTime::GetKinds() const
{
    return NODES;
}

void
ExposedTime::Skip(const Repetition& repetition)
{
    // Each rank computes, so its next wait begins later than all that has ended so far. Times of
    // skipped nodes are therefore not looked at.
    for (std::size_t rank = 0; rank < m_workers.size(); ++rank)
    {
        m_workers[rank].nodesLeft -=
            std::size_t{repetition.nodes[rank]} * repetition.period * repetition.times;
    }
}

void
ExposedTime::OnNodeBegun(const NodeEvent& event)
{
    Worker& worker = m_workers[event.rank];
    worker.start[event.node] = event.timePs;
    if (event.trace->type[event.node] == NodeType::COMPUTE && worker.computing++ == 0)
    {
        Count(*event.trace,
              worker,
              event.timePs,
              GetLastDependency(*event.trace, worker, event.node));
    }
}

void
ExposedTime::OnNodeEnded(const NodeEvent& event)
{
    Worker& worker = m_workers[event.rank];
    worker.end[event.node] = event.timePs;
    if (event.trace->type[event.node] == NodeType::COMPUTE)
    {
        worker.idleSince = event.timePs;
        --worker.computing;
    }
    if (--worker.nodesLeft == 0)
    {
        Count(*event.trace, worker, event.timePs, GetLastCommunication(*event.trace, worker));
    }
}

/// @return the dependency of a node that finished last, or NONE
uint32_t
ExposedTime::GetLastDependency(const Trace& trace, const Worker& worker, uint32_t node)
{
    uint32_t last = NONE;
    for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
    {
        const uint32_t dep = trace.dep[d];
        if (last == NONE || worker.end[dep] >= worker.end[last])
        {
            last = dep;
        }
    }
    return last;
}

/// @return the last finished node that is not a COMPUTE node, or NONE
uint32_t
ExposedTime::GetLastCommunication(const Trace& trace, const Worker& worker)
{
    uint32_t last = NONE;
    for (uint32_t node = 0; node < worker.end.size(); ++node)
    {
        if (trace.type[node] != NodeType::COMPUTE &&
            (last == NONE || worker.end[node] >= worker.end[last]))
        {
            last = node;
        }
    }
    return last;
}

/**
 * Count a wait since the last COMPUTE node that ends now. `last` is the last node that it waited
 * for.
 */
void
ExposedTime::Count(const Trace& trace, const Worker& worker, uint64_t now, uint32_t last)
{
    const uint64_t from = worker.idleSince;
    uint64_t to = now;
    while (last != NONE && from < to && trace.type[last] != NodeType::COMPUTE)
    {
        const uint64_t end = std::min(to, worker.end[last]);
        const uint64_t start = std::max(from, worker.start[last]);
        const bool communicates =
            trace.type[last] == NodeType::COLLECTIVE || trace.type[last] == NodeType::RECV;
        if (end > start && communicates)
        {
            m_timing.AddExposed(trace.iteration[last], trace.layer[last], start, end);
        }
        to = std::min(start, end);
        last = GetLastDependency(trace, worker, last);
    }
}

} // namespace cosim
