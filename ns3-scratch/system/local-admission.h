/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LOCAL_ADMISSION_H
#define COSIM_LOCAL_ADMISSION_H

#include "stream/stream.h"
#include "system/admission.h"
#include "system/chunk-queue.h"
#include "system/collective-plans.h"
#include "system/slot-pools.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Every rank decides for itself when it starts a part of a chunk: when it has reached the part and
 * has a free slot. It asks no other rank. See ChunkQueue for the order, and for the reason why
 * ranks that issue their collectives in the same order cannot deadlock.
 */
class LocalAdmission : public Admission
{
  public:
    /**
     * @param stream its topology and settings
     * @param plans the prepared collectives; must outlive this object
     * @param handler starts what is admitted; not owned
     */
    LocalAdmission(const Stream& stream, const CollectivePlans& plans, AdmissionHandler& handler);

    void Begin(uint32_t collective, uint32_t member) override;
    void Reach(uint32_t collective, uint32_t chunk, uint32_t place) override;
    void NoteData(const ChunkPart& part, uint32_t place) override;
    void Leave(const ChunkPart& part, uint32_t place) override;
    uint32_t GetMaxOutstanding(uint32_t dimension) const override;
    std::string DescribeDeadlock() const override;

  private:
    const ProgramTemplate::Place& GetPlace(uint32_t collective, uint32_t place) const;
    uint32_t GetPool(uint32_t collective, uint32_t place) const;
    ChunkQueue& GetQueue(uint32_t pool, Rank rank);
    ChunkQueue& GetQueue(uint32_t collective, const ProgramTemplate::Place& place);
    bool ReturnsTo(uint32_t collective, uint32_t place) const;
    void Start(ChunkQueue& queue);

    const Topology& m_topology;
    const CollectivePlans& m_plans;
    SlotPools m_pools;
    AdmissionHandler& m_handler;
    std::vector<ChunkQueue> m_queues;       //!< indexed by pool, then by rank
    std::vector<uint32_t> m_issues;         //!< per rank: number of collectives that it has issued
    std::vector<uint32_t> m_maxOutstanding; //!< per dimension
};

} // namespace cosim

#endif // COSIM_LOCAL_ADMISSION_H
