/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CHUNK_SCHEDULER_H
#define COSIM_CHUNK_SCHEDULER_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "system/admission.h"

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace cosim
{

/// Starts the parts that the ChunkScheduler admits.
class ChunkStarter
{
  public:
    virtual ~ChunkStarter() = default;

    /**
     * Start a part. The scheduler has taken one slot at each rank of the part's lane; the callee
     * gives each slot back with ChunkScheduler::Release.
     *
     * @param part the part to start
     */
    virtual void StartPart(const ChunkPart& part) = 0;
};

/**
 * Decides which chunks are in flight when all ranks of a part start it together.
 *
 * Every rank has a fixed number of slots in each pool (see SlotPools). A part of a chunk takes one
 * slot at each of its ranks, at all ranks at the same time. Each rank gives its slot back when it
 * has finished its steps. This has three consequences:
 *
 * - No rank ever has more chunks in flight than the limit.
 * - A started part never waits for a slot, so the ranks cannot deadlock, even if they issue
 *   collectives in different orders.
 * - Waiting parts start in a fixed order: by priority class, then the collective that was issued
 *   later first (LIFO) or the one that was issued earlier first (FIFO), then the lower chunk, then
 *   the later phase. With ChunkOrder::ARRIVAL, the part that came first starts before the lower
 *   chunk.
 *
 * A *lane* is a set of ranks with one pool. All parts that wait in a lane wait for the same
 * slots, so only the first part of each lane can start next. Lanes can share ranks. If the first
 * part of a lane lacks a slot at some rank, it reserves one slot at each of its other ranks, and
 * lanes that come later in the order cannot take it. Without this rule, small groups would starve
 * large groups.
 */
class ChunkScheduler
{
  public:
    /**
     * @param ranks number of ranks
     * @param limits number of slots of a rank in each pool
     * @param settings the order
     * @param starter starts the admitted parts; not owned
     */
    ChunkScheduler(uint32_t ranks,
                   const std::vector<uint32_t>& limits,
                   const SystemSettings& settings,
                   ChunkStarter& starter);

    /**
     * Get the lane of a set of ranks. The first call with this set creates the lane.
     *
     * @param pool the pool
     * @param ranks the ranks, in any order
     * @return the id of the lane
     */
    uint32_t GetLane(uint32_t pool, std::vector<Rank> ranks);

    /**
     * Add one part of several consecutive chunks to the queue of a lane, and start the parts that
     * can start.
     *
     * @param lane the lane of the part's ranks
     * @param priorityClass priority; smaller values start first
     * @param issue number of the collective in the order of issue
     * @param phase phase of the part
     * @param first the part of the first chunk
     * @param count number of chunks
     */
    void Enqueue(uint32_t lane,
                 uint32_t priorityClass,
                 uint32_t issue,
                 uint32_t phase,
                 const ChunkPart& first,
                 uint32_t count);

    /**
     * Give a slot back, and start the parts that can start.
     *
     * @param rank the rank of the slot
     * @param pool the pool of the slot
     */
    void Release(Rank rank, uint32_t pool);

    /**
     * @param pool a pool
     * @return the largest number of slots that one rank had in use at the same time
     */
    uint32_t GetMaxOutstanding(uint32_t pool) const;

  private:
    /// An entry of a queue. The comparison operator orders entries: the smallest starts first.
    struct Waiting
    {
        uint32_t priorityClass;
        uint32_t order;
        uint64_t arrival; //!< number in the order of arrival; 0 if this order does not matter
        uint32_t chunk;
        uint32_t laterPhase; //!< decreases as the phase increases
        uint32_t collective;
        uint32_t part;
        uint32_t count; //!< number of chunks, from `chunk` on

        auto operator<=>(const Waiting&) const = default;
    };

    /// A set of ranks with a pool, with the queue of the parts that need a slot at each of them.
    struct Lane
    {
        uint32_t pool;
        /// cluster of the lanes that share ranks, directly or through other lanes
        uint32_t cluster;
        std::vector<Rank> ranks;    //!< sorted
        uint32_t full{0};           //!< number of its ranks without a free slot
        std::vector<Waiting> queue; //!< a heap, with the smallest entry at the front
    };

    /// The slots of one rank in one pool.
    struct Slots
    {
        uint32_t free{0};
        uint32_t kept{0}; //!< slots reserved for lanes earlier in the order; used while Scan runs
        std::vector<uint32_t> lanes;
    };

    Slots& At(uint32_t pool, Rank rank);
    void FormClusters();
    void Scan(uint32_t cluster);
    void ScanShared(const std::vector<uint32_t>& lanes);
    bool CanStart(const Lane& lane);
    void StartFirst(Lane& lane);

    uint32_t m_ranks;
    bool m_lifo;
    bool m_byArrival;
    uint64_t m_arrivals{0};
    std::vector<uint32_t> m_limits; //!< per pool
    std::vector<uint32_t> m_maxOutstanding;
    ChunkStarter& m_starter;
    std::vector<Slots> m_slots; //!< indexed by pool, then by rank
    std::vector<Lane> m_lanes;
    std::map<std::pair<uint32_t, std::vector<Rank>>, uint32_t> m_laneIds;
    bool m_clustered{true};                        //!< true if m_clusters is up to date
    std::vector<std::vector<uint32_t>> m_clusters; //!< ids of the lanes of each cluster
};

} // namespace cosim

#endif // COSIM_CHUNK_SCHEDULER_H
