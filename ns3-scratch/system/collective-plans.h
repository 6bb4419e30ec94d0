/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_PLANS_H
#define COSIM_COLLECTIVE_PLANS_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "system/chunk-scheduler.h"
#include "system/program-template.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The collectives of a stream, prepared for running: the template of each program, and the
 * scheduler's lane of each part.
 */
class CollectivePlans
{
  public:
    /**
     * @param stream programs and collectives; its collectives must outlive this object, its
     * programs need not
     * @param scheduler the scheduler that creates the lanes
     */
    CollectivePlans(const Stream& stream, ChunkScheduler& scheduler);

    /// @return the record of a collective
    const Collective& GetCollective(uint32_t collective) const
    {
        return m_collectives[collective];
    }

    /// @return the template of a collective's program
    const ProgramTemplate& GetProgram(uint32_t collective) const
    {
        return *m_placements[m_placementOf[collective]].program;
    }

    /// @return a part of a collective's program
    const ProgramTemplate::Part& GetPart(uint32_t collective, uint32_t part) const
    {
        return GetProgram(collective).GetParts()[part];
    }

    /// @return the scheduler's lane for a part of a collective
    uint32_t GetLane(uint32_t collective, uint32_t part) const
    {
        return m_placements[m_placementOf[collective]].lanes[part];
    }

    /**
     * @param collective a collective
     * @param rank one of its ranks
     * @return index of the rank in the group of the collective
     */
    uint32_t FindMember(uint32_t collective, Rank rank) const;

    /// @return payload of all messages of all collectives [bytes]
    uint64_t GetTotalBytes() const;

  private:
    /// Data that collectives share if they have the same program and the same ranks.
    struct Placement
    {
        const ProgramTemplate* program;
        std::vector<uint32_t> lanes; //!< per part
    };

    void CountBytes();

    const std::vector<Collective>& m_collectives;
    /// templates of the programs that some collective uses
    std::vector<std::unique_ptr<const ProgramTemplate>> m_programs;
    std::vector<Placement> m_placements;
    std::vector<uint32_t> m_placementOf; //!< per collective
    uint64_t m_totalBytes{0};
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_PLANS_H
