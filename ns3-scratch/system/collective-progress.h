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
 * How far the collectives are, chunk by chunk: which members have issued them, which have reached
 * which part, and which are done. A part that all its members have reached goes to the scheduler.
 */
class CollectiveProgress
{
  public:
    /**
     * @param collectives how many there are
     * @param plans their plans; must outlive the progress
     * @param scheduler where parts wait that all their members have reached; must outlive it too
     */
    CollectiveProgress(std::size_t collectives,
                       const CollectivePlans& plans,
                       ChunkScheduler& scheduler);

    /**
     * A member has issued a collective.
     *
     * @param collective its id
     * @param member the member of its group
     * @return false if the member has nothing to do for it: it is then to be finished as if it had
     * one chunk
     */
    bool Issue(uint32_t collective, uint32_t member);

    /**
     * A member has done its steps of a part, and has another part of the same chunk to do.
     *
     * @param collective the id of the collective
     * @param chunk the chunk
     * @param part the part that the member reaches
     */
    void Reach(uint32_t collective, uint32_t chunk, uint32_t part);

    /**
     * A member has done the last part of a chunk.
     *
     * @param collective the id of the collective
     * @param member the member of its group
     * @return whether it was the member's last chunk
     */
    bool FinishChunk(uint32_t collective, uint32_t member);

    /**
     * Say how far a collective is.
     *
     * @param collective its id
     * @param member a member of its group
     * @return part of a sentence, or nothing if it does not run
     */
    std::string Describe(uint32_t collective, uint32_t member) const;

  private:
    /// Which members have reached the parts of a chunk whose programs have several phases.
    struct ChunkProgress
    {
        std::vector<uint32_t> reached; //!< per part, by members that left another part
        uint32_t partsLeft{0};         //!< parts that are not the first of all their members
    };

    /// A collective that was issued by some rank and is not done at every one.
    struct Running
    {
        uint32_t issue{0}; //!< rises with every collective issued
        uint32_t membersDone{0};
        std::vector<bool> issued;         //!< per member
        std::vector<uint32_t> chunksLeft; //!< per member
        std::vector<uint32_t> reached;    //!< per part, by members that have issued
        std::vector<uint32_t> chunks;     //!< per chunk, into m_chunks, or NONE; may be empty
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
