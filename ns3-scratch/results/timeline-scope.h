/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_SCOPE_H
#define COSIM_TIMELINE_SCOPE_H

#include "network/network-api.h"
#include "results/trace-text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosim
{

/// What a timeline shows.
struct TimelineOptions
{
    std::vector<Rank> ranks;         //!< empty: all ranks
    uint64_t startPs{0};             //!< start of the window [ps]
    uint64_t endPs{UINT64_MAX};      //!< end of the window [ps]
    uint64_t limitBytes{UINT64_MAX}; //!< largest size of the file [bytes]
    uint64_t counterPs{0};           //!< time between samples of links and flows; 0: none [ps]
    uint32_t counterLinks{0};        //!< number of links that have counters
    uint32_t counterFlows{0};        //!< number of flows that have a counter
};

/// Decides whether a timeline shows an event: by its rank, its time, and the room in the file.
class TimelineScope
{
  public:
    /**
     * @param options what to show
     * @param ranks number of ranks
     * @param text the file; must outlive this object
     */
    TimelineScope(const TimelineOptions& options, uint32_t ranks, const TraceText& text)
        : m_startPs(options.startPs),
          m_endPs(options.endPs),
          m_text(text),
          m_isShown(ranks, options.ranks.empty())
    {
        for (const Rank rank : options.ranks)
        {
            m_isShown[rank] = true;
        }
    }

    /// @return true if the timeline has tracks of a rank
    bool Shows(Rank rank) const
    {
        return m_isShown[rank];
    }

    /// @return true if an event at this time is written; it counts as left out if there is no room
    bool Accepts(uint64_t timePs)
    {
        if (timePs < m_startPs || timePs > m_endPs)
        {
            return false;
        }
        m_leftOut += m_text.IsFull() ? 1 : 0;
        return !m_text.IsFull();
    }

    /// @return start of the window [ps]
    uint64_t GetStart() const
    {
        return m_startPs;
    }

    /// @return the number of events for which the file had no room
    uint64_t GetLeftOut() const
    {
        return m_leftOut;
    }

    /// @return the number of ranks with tracks
    uint64_t GetShown() const
    {
        return static_cast<uint64_t>(std::count(m_isShown.begin(), m_isShown.end(), true));
    }

  private:
    uint64_t m_startPs;
    uint64_t m_endPs;
    const TraceText& m_text;
    std::vector<bool> m_isShown; //!< per rank
    uint64_t m_leftOut{0};
};

} // namespace cosim

#endif // COSIM_TIMELINE_SCOPE_H
