/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timing-record.h"

#include <algorithm>

namespace cosim
{

TimingRecord::TimingRecord(const Stream& stream)
    : m_layers(stream.traces.empty() ? 0
                                     : static_cast<uint32_t>(stream.traces.front().layers.size())),
      m_computing(stream.topology.ranks)
{
    for (const Trace& trace : stream.traces)
    {
        m_workers += trace.ranks.size();
        for (const uint32_t iteration : trace.iteration)
        {
            m_iterations.resize(std::max(m_iterations.size(), std::size_t{iteration} + 1));
            m_iterations[iteration].nodesLeft += trace.ranks.size();
        }
    }
    m_sums.resize(m_iterations.size() * m_layers);
    m_parts.resize(m_iterations.size());
    CloseParts(); // iterations without nodes have ended
}

void
TimingRecord::OnNodeBegun(const NodeEvent& event)
{
    if (event.trace->type[event.node] == NodeType::COMPUTE)
    {
        Computing& computing = m_computing[event.rank];
        if (computing.nodes++ == 0)
        {
            computing.since = event.timePs;
        }
    }
}

void
TimingRecord::OnNodeEnded(const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    const uint32_t iteration = trace.iteration[event.node];
    m_iterations[iteration].end = event.timePs;
    --m_iterations[iteration].nodesLeft;
    if (trace.type[event.node] == NodeType::COMPUTE)
    {
        Computing& computing = m_computing[event.rank];
        if (--computing.nodes == 0)
        {
            AddPart(computing.since, event.timePs, &Times::compute);
        }
    }
    CloseParts();
}

void
TimingRecord::AddComputed(uint32_t iteration, uint32_t layer, uint64_t durationPs)
{
    m_sums[std::size_t{iteration} * m_layers + layer].compute += durationPs;
}

void
TimingRecord::AddExposed(uint32_t iteration, uint32_t layer, uint64_t fromPs, uint64_t toPs)
{
    m_sums[std::size_t{iteration} * m_layers + layer].exposed += toPs - fromPs;
    AddPart(fromPs, toPs, &Times::exposed);
}

/// Divide a time of a rank among the iterations: it ends now, so later ends are not before it.
void
TimingRecord::AddPart(uint64_t fromPs, uint64_t toPs, uint64_t Times::* part)
{
    const auto first = std::upper_bound(m_ends.begin(), m_ends.end(), fromPs);
    auto index = static_cast<std::size_t>(first - m_ends.begin());
    for (; fromPs < toPs && index < m_parts.size(); ++index)
    {
        const uint64_t end = index < m_ends.size() ? std::min(toPs, m_ends[index]) : toPs;
        m_parts[index].*part += end - fromPs;
        fromPs = end;
    }
}

/// Note the ends of iterations before which no iteration is left.
void
TimingRecord::CloseParts()
{
    while (m_ends.size() < m_iterations.size() && m_iterations[m_ends.size()].nodesLeft == 0)
    {
        const uint64_t before = m_ends.empty() ? 0 : m_ends.back();
        m_ends.push_back(std::max(before, m_iterations[m_ends.size()].end));
    }
}

TimingRecord::Times
TimingRecord::GetLayer(uint32_t iteration, uint32_t layer) const
{
    return GetMean(m_sums[std::size_t{iteration} * m_layers + layer]);
}

TimingRecord::Times
TimingRecord::GetParts(uint32_t iteration) const
{
    const uint64_t time = m_ends[iteration] - (iteration == 0 ? 0 : m_ends[iteration - 1]);
    Times mean = GetMean(m_parts[iteration]);
    // Rounding both parts up must not make them longer than the whole.
    mean.exposed = std::min(mean.exposed, time - mean.compute);
    return mean;
}

/// @return the mean over the ranks of what all ranks together have
TimingRecord::Times
TimingRecord::GetMean(const Times& sum) const
{
    const uint64_t ranks = std::max<uint64_t>(m_workers, 1);
    return {(sum.compute + ranks / 2) / ranks, (sum.exposed + ranks / 2) / ranks};
}

ExposedTime::ExposedTime(const Stream& stream, TimingRecord& timing)
    : m_timing(timing),
      m_workers(stream.topology.ranks)
{
    std::size_t nodes = 0;
    for (const Trace& trace : stream.traces)
    {
        for (const Rank rank : trace.ranks)
        {
            m_workers[rank].firstSpan = nodes;
            m_workers[rank].nodesLeft = trace.type.size();
            nodes += trace.type.size();
        }
    }
    m_spans.resize(nodes);
}

void
ExposedTime::OnNodeBegun(const NodeEvent& event)
{
    Worker& worker = m_workers[event.rank];
    Span* const spans = m_spans.data() + worker.firstSpan;
    spans[event.node].start = event.timePs;
    if (event.trace->type[event.node] == NodeType::COMPUTE && worker.computing++ == 0)
    {
        Count(*event.trace,
              worker,
              event.timePs,
              GetLastDependency(*event.trace, spans, event.node));
    }
}

void
ExposedTime::OnNodeEnded(const NodeEvent& event)
{
    Worker& worker = m_workers[event.rank];
    Span* const spans = m_spans.data() + worker.firstSpan;
    spans[event.node].end = event.timePs;
    if (const Trace& trace = *event.trace; trace.type[event.node] == NodeType::COMPUTE)
    {
        m_timing.AddComputed(trace.iteration[event.node],
                             trace.layer[event.node],
                             event.timePs - spans[event.node].start);
        worker.idleSince = event.timePs;
        --worker.computing;
    }
    if (--worker.nodesLeft == 0)
    {
        Count(*event.trace, worker, event.timePs, GetLastCommunication(*event.trace, spans));
    }
}

/// @return the dependency of a node that finished last, or NONE
uint32_t
ExposedTime::GetLastDependency(const Trace& trace, const Span* spans, uint32_t node)
{
    uint32_t last = NONE;
    for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
    {
        const uint32_t dep = trace.dep[d];
        if (last == NONE || spans[dep].end >= spans[last].end)
        {
            last = dep;
        }
    }
    return last;
}

/// @return the last finished node that is not a COMPUTE node, or NONE
uint32_t
ExposedTime::GetLastCommunication(const Trace& trace, const Span* spans)
{
    uint32_t last = NONE;
    for (uint32_t node = 0; node < trace.type.size(); ++node)
    {
        if (trace.type[node] != NodeType::COMPUTE &&
            (last == NONE || spans[node].end >= spans[last].end))
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
    const Span* const spans = m_spans.data() + worker.firstSpan;
    const uint64_t from = worker.idleSince;
    uint64_t to = now;
    while (last != NONE && from < to && trace.type[last] != NodeType::COMPUTE)
    {
        const uint64_t end = std::min(to, spans[last].end);
        const uint64_t start = std::max(from, spans[last].start);
        const bool communicates =
            trace.type[last] == NodeType::COLLECTIVE || trace.type[last] == NodeType::RECV;
        if (end > start && communicates)
        {
            m_timing.AddExposed(trace.iteration[last], trace.layer[last], start, end);
        }
        to = std::min(start, end);
        last = GetLastDependency(trace, spans, last);
    }
}

} // namespace cosim
