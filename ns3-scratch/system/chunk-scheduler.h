/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CHUNK_SCHEDULER_H
#define COSIM_CHUNK_SCHEDULER_H

#include "network/network-api.h"
#include "stream/stream.h"

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace cosim
{

/// One phase of one chunk of a collective, for the members that exchange messages in it.
struct ChunkPart
{
    uint32_t collective; //!< its id
    uint32_t part;       //!< of its program's template
    uint32_t chunk;
};

/// Starts what the ChunkScheduler admits.
class ChunkStarter
{
  public:
    virtual ~ChunkStarter() = default;

    /**
     * A slot was taken at each rank of the part's lane; each is to be given back with Release.
     *
     * @param part what starts now
     */
    virtual void StartPart(const ChunkPart& part) = 0;
};

/**
 * Decides which chunks are in flight.
 *
 * Every rank has a number of slots in each dimension. A part of a chunk takes one slot at each of
 * its ranks, at all of them in the same moment, and each rank gives its own back when it has done
 * its steps. So no rank ever has more chunks in flight than allowed, what has started never waits
 * for a slot (it cannot deadlock whatever the order of issues at the ranks), and what waits is
 * ordered: by priority class, then the later issued collective first (LIFO) or the earlier (FIFO),
 * then the lower chunk, then the later phase.
 *
 * A *lane* is a set of ranks in one dimension. What waits in one lane waits for the same slots, so
 * only the first in each lane can be next. Where lanes share ranks, the first in a lane that lacks
 * a slot somewhere keeps one slot at each of its other ranks from lanes that come after it:
 * large groups are not starved by small ones.
 */
class ChunkScheduler
{
  public:
    /**
     * @param ranks number of ranks
     * @param settings limits and order
     * @param starter starts what is admitted; not owned
     */
    ChunkScheduler(uint32_t ranks, const SystemSettings& settings, ChunkStarter& starter);

    /**
     * @param dimension the dimension
     * @param ranks the ranks, in any order
     * @return the lane of these ranks, made if it is new
     */
    uint32_t GetLane(uint32_t dimension, std::vector<Rank> ranks);

    /**
     * Let parts of consecutive chunks wait, and start what can start.
     *
     * @param lane their ranks
     * @param priorityClass smaller goes first
     * @param issue rises with every collective issued
     * @param phase the phase of the part
     * @param first the part of the first chunk
     * @param count how many chunks
     */
    void Enqueue(uint32_t lane,
                 uint32_t priorityClass,
                 uint32_t issue,
                 uint32_t phase,
                 const ChunkPart& first,
                 uint32_t count);

    /**
     * Give a slot back, and start what can start.
     *
     * @param rank where
     * @param dimension of which dimension
     */
    void Release(Rank rank, uint32_t dimension);

    /**
     * @param dimension a dimension
     * @return the most slots that were taken at a rank at any time
     */
    uint32_t GetMaxOutstanding(uint32_t dimension) const;

  private:
    /// What waits, by order: the smallest goes first.
    struct Waiting
    {
        uint32_t priorityClass;
        uint32_t order;
        uint32_t chunk;
        uint32_t laterPhase; //!< smaller for later phases
        uint32_t collective;
        uint32_t part;
        uint32_t count; //!< chunks from `chunk` on

        auto operator<=>(const Waiting&) const = default;
    };

    /// Ranks in a dimension, and what waits for slots at all of them.
    struct Lane
    {
        uint32_t dimension;
        uint32_t cluster;           //!< lanes that share ranks, directly or over others
        std::vector<Rank> ranks;    //!< sorted
        uint32_t full{0};           //!< how many of the ranks have no free slot
        std::vector<Waiting> queue; //!< a heap, the smallest in front
    };

    /// The slots of one rank in one dimension.
    struct Slots
    {
        uint32_t free{0};
        uint32_t kept{0}; //!< while Scan runs: for lanes that come first
        std::vector<uint32_t> lanes;
    };

    Slots& At(uint32_t dimension, Rank rank);
    void FormClusters();
    void Scan(uint32_t cluster);
    void ScanShared(const std::vector<uint32_t>& lanes);
    bool CanStart(const Lane& lane);
    void StartFirst(Lane& lane);

    uint32_t m_ranks;
    bool m_lifo;
    std::vector<uint32_t> m_limits; //!< per dimension
    std::vector<uint32_t> m_maxOutstanding;
    ChunkStarter& m_starter;
    std::vector<Slots> m_slots; //!< by dimension, then rank
    std::vector<Lane> m_lanes;
    std::map<std::pair<uint32_t, std::vector<Rank>>, uint32_t> m_laneIds;
    bool m_clustered{true};                        //!< whether m_clusters is up to date
    std::vector<std::vector<uint32_t>> m_clusters; //!< lanes
};

} // namespace cosim

#endif // COSIM_CHUNK_SCHEDULER_H
