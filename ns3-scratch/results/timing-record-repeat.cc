/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timing-record.h"

#include <algorithm>

namespace cosim
{

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
