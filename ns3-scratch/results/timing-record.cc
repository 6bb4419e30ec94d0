/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timing-record.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Add to times what was counted between two states.
void
AddSince(TimingRecord::Times& times,
         const TimingRecord::Times& then,
         const TimingRecord::Times& now)
{
    times.compute += now.compute - then.compute;
    times.exposed += now.exposed - then.exposed;
}

} // namespace

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
        computing.lastBegin = event.timePs;
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
    m_last = std::max(m_last, iteration);
    if (trace.type[event.node] == NodeType::COMPUTE)
    {
        Computing& computing = m_computing[event.rank];
        m_sums[std::size_t{iteration} * m_layers + trace.layer[event.node]].compute +=
            event.timePs - computing.lastBegin;
        if (--computing.nodes == 0)
        {
            AddPart(computing.since, event.timePs, &Times::compute);
        }
    }
    CloseParts();
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

// Repetition.

TimingRecord::State
TimingRecord::GetState() const
{
    State state;
    state.m_begin = std::min(m_last, GetEnded());
    const auto end = static_cast<std::ptrdiff_t>(m_last + 1);
    const auto begin = static_cast<std::ptrdiff_t>(state.m_begin);
    state.m_sums = {m_sums.begin() + begin * m_layers, m_sums.begin() + end * m_layers};
    state.m_iterations = {m_iterations.begin() + begin, m_iterations.begin() + end};
    // A time that has begun before the iteration also belongs to the one before.
    state.m_firstPart = state.m_begin > 0 ? state.m_begin - 1 : 0;
    state.m_parts = {m_parts.begin() + static_cast<std::ptrdiff_t>(state.m_firstPart),
                     m_parts.begin() + end};
    return state;
}

void
TimingRecord::Repeat(const State& from, const Repetition& repetition)
{
    const uint64_t nodes = m_iterations.back().nodesLeft; // of an iteration that has not begun
    for (uint32_t iteration = m_last + 1; iteration-- > from.m_begin;)
    { // from the last one on, so that what is repeated is not yet changed
        RepeatIteration(from, repetition, iteration, nodes);
    }
    RepeatParts(from, repetition);
    m_last += repetition.times * repetition.period;
    for (Computing& computing : m_computing)
    {
        computing.since += repetition.times * repetition.periodPs;
        computing.lastBegin += repetition.times * repetition.periodPs;
    }
}

/// Repeat what was added to the parts since an earlier time, from the last iteration on.
void
TimingRecord::RepeatParts(const State& from, const Repetition& repetition)
{
    for (std::size_t index = m_last + 1; index-- > from.m_firstPart;)
    {
        const std::size_t place = index - from.m_firstPart;
        const Times then = place < from.m_parts.size() ? from.m_parts[place] : Times();
        for (uint32_t time = 1; time <= repetition.times; ++time)
        {
            AddSince(m_parts[index + std::size_t{time} * repetition.period], then, m_parts[index]);
        }
    }
    CloseParts();
}

/// Repeat what happened in one iteration; it has this number of nodes before it begins.
void
TimingRecord::RepeatIteration(const State& from,
                              const Repetition& repetition,
                              uint32_t iteration,
                              uint64_t nodes)
{
    const std::size_t place = iteration - from.m_begin;
    const bool isKnown = place < from.m_iterations.size();
    const Iteration now = m_iterations[iteration];
    const uint64_t before = isKnown ? from.m_iterations[place].nodesLeft : nodes;
    if (now.nodesLeft == before)
    {
        return;
    }
    for (uint32_t time = repetition.times; time > 0; --time)
    {
        const uint32_t later = iteration + time * repetition.period;
        m_iterations[later].nodesLeft -= before - now.nodesLeft;
        m_iterations[later].end =
            std::max(m_iterations[later].end, now.end + time * repetition.periodPs);
        for (uint32_t layer = 0; layer < m_layers; ++layer)
        {
            const std::size_t index = std::size_t{iteration} * m_layers + layer;
            const Times then = isKnown ? from.m_sums[place * m_layers + layer] : Times();
            AddSince(m_sums[std::size_t{later} * m_layers + layer], then, m_sums[index]);
        }
    }
}

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
