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
}

uint32_t
TimingRecord::GetKinds() const
{
    return NODES;
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
            AddPart(computing.since, event.timePs, &Parts::compute);
        }
    }
    CloseParts();
}

void
TimingRecord::AddExposed(uint32_t iteration, uint32_t layer, uint64_t fromPs, uint64_t toPs)
{
    m_sums[std::size_t{iteration} * m_layers + layer].exposed += toPs - fromPs;
    AddPart(fromPs, toPs, &Parts::exposed);
}

/// Divide a time of a rank among the iterations: it ends now, so later ends are not before it.
void
TimingRecord::AddPart(uint64_t fromPs, uint64_t toPs, uint64_t Parts::* part)
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

TimingRecord::Parts
TimingRecord::GetParts(uint32_t iteration) const
{
    const uint64_t time = m_ends[iteration] - (iteration == 0 ? 0 : m_ends[iteration - 1]);
    const Parts& sum = m_parts[iteration];
    Parts mean;
    mean.compute = Mean(sum.compute);
    // Rounding both parts up must not make them longer than the whole.
    mean.exposed = std::min(Mean(sum.exposed), time - mean.compute);
    return mean;
}

uint64_t
TimingRecord::GetPartsEnd(uint32_t iteration) const
{
    return m_ends[iteration];
}

uint32_t
TimingRecord::GetIterations() const
{
    return static_cast<uint32_t>(m_iterations.size());
}

uint32_t
TimingRecord::GetLayers() const
{
    return m_layers;
}

bool
TimingRecord::IsComplete(uint32_t iteration) const
{
    return m_iterations[iteration].nodesLeft == 0;
}

uint64_t
TimingRecord::GetEnd(uint32_t iteration) const
{
    return m_iterations[iteration].end;
}

uint64_t
TimingRecord::GetCompute(uint32_t iteration, uint32_t layer) const
{
    return Mean(At(iteration, layer).compute);
}

uint64_t
TimingRecord::GetExposed(uint32_t iteration, uint32_t layer) const
{
    return Mean(At(iteration, layer).exposed);
}

uint64_t
TimingRecord::Mean(uint64_t sum) const
{
    return m_workers == 0 ? 0 : (sum + m_workers / 2) / m_workers;
}

const TimingRecord::Sums&
TimingRecord::At(uint32_t iteration, uint32_t layer) const
{
    return m_sums[std::size_t{iteration} * m_layers + layer];
}

// Repetition.

TimingRecord::State
TimingRecord::GetState() const
{
    State state;
    while (state.m_begin < m_last && IsComplete(state.m_begin))
    {
        ++state.m_begin;
    }
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
    for (uint32_t iteration = m_last + 1; iteration-- > from.m_begin;)
    { // from the last one on, so that what is repeated is not yet changed
        RepeatIteration(from, repetition, iteration);
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
        const Parts then = place < from.m_parts.size() ? from.m_parts[place] : Parts();
        const uint64_t compute = m_parts[index].compute - then.compute;
        const uint64_t exposed = m_parts[index].exposed - then.exposed;
        for (uint32_t time = 1; time <= repetition.times; ++time)
        {
            Parts& parts = m_parts[index + std::size_t{time} * repetition.period];
            parts.compute += compute;
            parts.exposed += exposed;
        }
    }
    CloseParts();
}

/// Repeat what happened in one iteration.
void
TimingRecord::RepeatIteration(const State& from, const Repetition& repetition, uint32_t iteration)
{
    const std::size_t place = iteration - from.m_begin;
    const bool isKnown = place < from.m_iterations.size();
    const Iteration now = m_iterations[iteration];
    const uint64_t before = isKnown ? from.m_iterations[place].nodesLeft
                                    : m_iterations.back().nodesLeft; // which has not begun
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
            const Sums then = isKnown ? from.m_sums[place * m_layers + layer] : Sums();
            Sums& sums = m_sums[std::size_t{later} * m_layers + layer];
            sums.compute += m_sums[index].compute - then.compute;
            sums.exposed += m_sums[index].exposed - then.exposed;
        }
    }
}

} // namespace cosim
