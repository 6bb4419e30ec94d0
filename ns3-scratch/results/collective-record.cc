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
    --times.ranksLeft;
}

} // namespace cosim
