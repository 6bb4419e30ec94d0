/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NEGOTIATED_ADMISSION_H
#define COSIM_NEGOTIATED_ADMISSION_H

#include "stream/stream.h"
#include "support/slot-pool.h"
#include "system/admission.h"
#include "system/chunk-scheduler.h"
#include "system/collective-plans.h"
#include "system/slot-pools.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * All members of a part start it together: when each of them has reached it and has a free slot.
 * See ChunkScheduler for the order of what waits.
 */
class NegotiatedAdmission : public Admission, public ChunkStarter
{
  public:
    /**
     * @param stream its topology and settings
     * @param plans the prepared collectives; must outlive this object
     * @param handler starts what is admitted; not owned
     */
    NegotiatedAdmission(const Stream& stream,
                        const CollectivePlans& plans,
                        AdmissionHandler& handler);

    void Begin(uint32_t collective, uint32_t member) override;
    void Reach(uint32_t collective, uint32_t chunk, uint32_t place) override;
    void NoteData(const ChunkPart& part, uint32_t place) override;
    void Leave(const ChunkPart& part, uint32_t place) override;
    uint32_t GetMaxOutstanding(uint32_t dimension) const override;
    std::string DescribeDeadlock() const override;
    void StartPart(const ChunkPart& part) override;

  private:
    /// Progress of the members of one chunk, for programs with several phases.
    struct ChunkProgress
    {
        /// per part: number of members that have come from an earlier part
        std::vector<uint32_t> reached;
        uint32_t partsLeft{0}; //!< number of parts that are not the first part of all their members
    };

    /// A collective that at least one rank has issued and of which some part has not been queued.
    struct Running
    {
        uint32_t issue{0};   //!< number in the order of issue
        uint64_t toQueue{0}; //!< number of parts of chunks that have not been queued
        /// per part: number of members that have issued the collective and start with this part
        std::vector<uint32_t> reached;
        /// per chunk: index in m_chunks, or NONE; empty if no chunk needs one
        std::vector<uint32_t> chunks;
    };

    static constexpr uint32_t NONE = ProgramTemplate::NONE;

    Running& GetRunning(uint32_t collective);
    ChunkProgress& GetChunk(uint32_t collective, uint32_t chunk);
    void Count(uint32_t collective, uint32_t chunk, uint32_t part);
    void Enqueue(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count);

    const Topology& m_topology;
    const CollectivePlans& m_plans;
    SlotPools m_pools;
    AdmissionHandler& m_handler;
    ChunkScheduler m_scheduler;
    std::vector<std::vector<uint32_t>> m_lanes;      //!< per placement and part: its lane
    std::vector<std::unique_ptr<Running>> m_running; //!< per collective
    uint32_t m_issues{0};
    SlotPool<ChunkProgress> m_chunks;
};

} // namespace cosim

#endif // COSIM_NEGOTIATED_ADMISSION_H
