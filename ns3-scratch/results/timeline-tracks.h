/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_TRACKS_H
#define COSIM_TIMELINE_TRACKS_H

#include "network/network-api.h"
#include "results/trace-text.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The tracks of the ranks in a timeline. A rank has one track for its computation, and as many
 * communication streams as it needs at the same time.
 */
class TimelineTracks
{
  public:
    static constexpr uint32_t COMPUTE = 1; //!< track of the computation

    /// The process that shows the network as a whole: after all ranks.
    static constexpr uint32_t NETWORK = 1'000'000;

    /**
     * @param ranks number of ranks
     * @param text receives the names of the tracks; must outlive this object
     */
    TimelineTracks(uint32_t ranks, TraceText& text)
        : m_text(text),
          m_taken(ranks),
          m_isNamed(ranks)
    {
        m_text.BeginMeta(NETWORK, 0, "process_name").Text("name", "network").End();
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

    TraceText& m_text;
    std::vector<std::vector<bool>> m_taken; //!< per rank and stream
    std::vector<bool> m_isNamed;            //!< per rank
};

} // namespace cosim

#endif // COSIM_TIMELINE_TRACKS_H
