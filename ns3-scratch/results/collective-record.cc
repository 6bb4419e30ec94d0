/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/collective-record.h"

#include <algorithm>

namespace cosim
{

CollectiveRecord::CollectiveRecord(const Stream& stream)
    : m_times(stream.collectives.size())
{
    for (const Collective& collective : stream.collectives)
    {
        m_times[collective.id].ranksLeft = collective.ranks.size();
    }
}

uint32_t
CollectiveRecord::GetKinds() const
{
    return COLLECTIVES;
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
    if (--times.ranksLeft == 0)
    {
        m_done.push_back(event.collective->id);
    }
}

void
CollectiveRecord::Repeat(std::size_t from, const Repetition& repetition)
{
    for (std::size_t i = m_done.size(); i-- > from;)
    {
        const Times times = m_times[m_done[i]];
        for (uint32_t time = 1; time <= repetition.times; ++time)
        {
            const uint32_t later = m_done[i] + time * repetition.period * repetition.collectives;
            const uint64_t shift = time * repetition.periodPs;
            m_times[later] = {times.start + shift, times.end + shift, 0};
        }
    }
}

} // namespace cosim
