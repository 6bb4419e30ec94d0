/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_PROGRESS_H
#define COSIM_COLLECTIVE_PROGRESS_H

#include "support/slot-pool.h"
#include "system/chunk-scheduler.h"
#include "system/collective-plans.h"
#include "system/program-template.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Tracks the progress of collectives, chunk by chunk: which members have issued a collective, which
 * members have reached which part, and which members are done. When all members of a part have
 * reached it, the part goes to the scheduler.
 */
class CollectiveProgress
{
  public:
    /**
     * @param collectives number of collectives
     * @param plans the prepared collectives; must outlive this object
     * @param scheduler receives each part that all its members have reached; must outlive this
     * object
     */
    CollectiveProgress(std::size_t collectives,
                       const CollectivePlans& plans,
                       ChunkScheduler& scheduler);

    /**
     * Record that a member has issued a collective.
     *
     * @param collective id of the collective
     * @param member index of the member in the group
     * @return false if the member has no steps in this collective. The caller then calls
     * FinishChunk once for it, as if it had one chunk.
     */
    bool Issue(uint32_t collective, uint32_t member);

    /**
     * Record that a member has finished a part and that the next part of the same chunk follows.
     *
     * @param collective id of the collective
     * @param chunk index of the chunk
     * @param part the part that the member reaches
     */
    void Reach(uint32_t collective, uint32_t chunk, uint32_t part);

    /**
     * Record that a member has finished the last part of a chunk.
     *
     * @param collective id of the collective
     * @param member index of the member in the group
     * @return true if this was the last chunk of the member
     */
    bool FinishChunk(uint32_t collective, uint32_t member);

    /**
     * Describe the progress of a collective.
     *
     * @param collective id of the collective
     * @param member index of a member in its group
     * @return part of a sentence; empty if the collective does not run
     */
    std::string Describe(uint32_t collective, uint32_t member) const;

  private:
    /// Progress of the members of one chunk, for programs with several phases.
    struct ChunkProgress
    {
        /// per part: number of members that have come from an earlier part
        std::vector<uint32_t> reached;
        uint32_t partsLeft{0}; //!< number of parts that are not the first part of all their members
    };

    /// A collective that at least one rank has issued and at least one rank has not finished.
    struct Running
    {
        uint32_t issue{0}; //!< number in the order of issue
        uint32_t membersDone{0};
        std::vector<bool> issued;         //!< per member
        std::vector<uint32_t> chunksLeft; //!< per member
        std::vector<uint32_t> reached;    //!< per part: number of members that have issued the
                                          //!< collective and start with this part
        /// per chunk: index in m_chunks, or NONE; empty if no chunk needs one
        std::vector<uint32_t> chunks;
    };

    static constexpr uint32_t NONE = ProgramTemplate::NONE;

    Running& GetRunning(uint32_t collective);
    void ReachFirst(uint32_t collective, uint32_t part);
    ChunkProgress& GetChunk(uint32_t collective, uint32_t chunk);
    void Count(uint32_t collective, uint32_t chunk, uint32_t part);
    void Enqueue(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count);

    const CollectivePlans& m_plans;
    ChunkScheduler& m_scheduler;
    std::vector<std::unique_ptr<Running>> m_running; //!< per collective
    uint32_t m_issues{0};
    SlotPool<ChunkProgress, std::deque<ChunkProgress>> m_chunks;
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_PROGRESS_H
