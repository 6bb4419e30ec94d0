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
      m_computeStart(stream.topology.ranks)
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
        m_computeStart[event.rank] = event.timePs;
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
        m_sums[std::size_t{iteration} * m_layers + trace.layer[event.node]].compute +=
            event.timePs - m_computeStart[event.rank];
    }
}

void
TimingRecord::AddExposed(uint32_t iteration, uint32_t layer, uint64_t ps)
{
    m_sums[std::size_t{iteration} * m_layers + layer].exposed += ps;
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
    return state;
}

void
TimingRecord::Repeat(const State& from, const Repetition& repetition)
{
    for (uint32_t iteration = m_last + 1; iteration-- > from.m_begin;)
    { // from the last one on, so that what is repeated is not yet changed
        RepeatIteration(from, repetition, iteration);
    }
    m_last += repetition.times * repetition.period;
    for (uint64_t& start : m_computeStart)
    {
        start += repetition.times * repetition.periodPs;
    }
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
