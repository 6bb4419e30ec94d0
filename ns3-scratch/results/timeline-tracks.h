/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_TRACKS_H
#define COSIM_TIMELINE_TRACKS_H

#include "network/network-api.h"
#include "results/trace-text.h"

#include <algorithm>
#include <cstdint>
#include <string>
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

/**
 * The tracks of a timeline, and what is shown in them: events of some ranks in a window of time,
 * while the file has room. A rank has one track for its computation, and as many communication
 * streams as it needs at the same time.
 */
class TimelineTracks
{
  public:
    static constexpr uint32_t COMPUTE = 1; //!< track of the computation

    /// The process that shows the network as a whole: after all ranks.
    static constexpr uint32_t NETWORK = 1'000'000;

    /**
     * @param options what to show
     * @param ranks number of ranks
     * @param text receives the names of the tracks; must outlive this object
     */
    TimelineTracks(const TimelineOptions& options, uint32_t ranks, TraceText& text)
        : m_startPs(options.startPs),
          m_endPs(options.endPs),
          m_text(text),
          m_isShown(ranks, options.ranks.empty()),
          m_isNamed(ranks),
          m_taken(ranks)
    {
        for (const Rank rank : options.ranks)
        {
            m_isShown[rank] = true;
        }
        m_text.BeginMeta(NETWORK, 0, "process_name").Text("name", "network").End();
    }

    /// @return true if the timeline has tracks of an endpoint, which must be a rank
    bool Shows(Rank rank) const
    {
        return rank < m_isShown.size() && m_isShown[rank];
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

    /**
     * Name the process of a rank and its compute track, at its first use.
     *
     * @param rank a rank
     */
    void Use(Rank rank)
    {
        if (m_isNamed[rank])
        {
            return;
        }
        m_isNamed[rank] = true;
        m_text.BeginMeta(rank, 0, "process_name")
            .Text("name", "rank " + std::to_string(rank))
            .End();
        m_text.BeginMeta(rank, 0, "process_sort_index").Uint("sort_index", rank).End();
        m_text.BeginMeta(rank, COMPUTE, "thread_name").Text("name", "compute").End();
        m_text.BeginMeta(rank, COMPUTE, "thread_sort_index").Uint("sort_index", COMPUTE).End();
    }

    /**
     * @param rank a rank
     * @return its first free communication stream, which is taken until Release
     */
    uint32_t Take(Rank rank)
    {
        std::vector<bool>& taken = m_taken[rank];
        uint32_t stream = 0;
        while (stream < taken.size() && taken[stream])
        {
            ++stream;
        }
        if (stream == taken.size())
        {
            taken.push_back(false);
            const uint32_t thread = FIRST_STREAM + stream;
            m_text.BeginMeta(rank, thread, "thread_name")
                .Text("name", "communication " + std::to_string(stream))
                .End();
            m_text.BeginMeta(rank, thread, "thread_sort_index").Uint("sort_index", thread).End();
        }
        taken[stream] = true;
        return FIRST_STREAM + stream;
    }

    /// @param thread a stream of a rank that is free again
    void Release(Rank rank, uint32_t thread)
    {
        m_taken[rank][thread - FIRST_STREAM] = false;
    }

  private:
    static constexpr uint32_t FIRST_STREAM = 10;

    uint64_t m_startPs;
    uint64_t m_endPs;
    TraceText& m_text;
    std::vector<bool> m_isShown;            //!< per rank
    std::vector<bool> m_isNamed;            //!< per rank
    std::vector<std::vector<bool>> m_taken; //!< per rank and stream
    uint64_t m_leftOut{0};
};

} // namespace cosim

#endif // COSIM_TIMELINE_TRACKS_H
