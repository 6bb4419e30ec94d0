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
 * The collectives of a stream made ready to run: the templates of their programs, and the lanes in
 * which their parts wait.
 */
class CollectivePlans
{
  public:
    /**
     * @param stream programs and collectives; its collectives must outlive the plans, its programs
     * are not used afterwards
     * @param scheduler makes the lanes
     */
    CollectivePlans(const Stream& stream, ChunkScheduler& scheduler);

    /// @return a collective's record
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

    /// @return the scheduler's lane of a part of a collective's program
    uint32_t GetLane(uint32_t collective, uint32_t part) const
    {
        return m_placements[m_placementOf[collective]].lanes[part];
    }

    /**
     * @param collective a collective
     * @param rank one of its ranks
     * @return which member of the group it is
     */
    uint32_t FindMember(uint32_t collective, Rank rank) const;

    /// @return the payload of all messages of all collectives [bytes]
    uint64_t GetTotalBytes() const;

  private:
    /// What collectives of the same program over the same ranks share.
    struct Placement
    {
        const ProgramTemplate* program;
        std::vector<uint32_t> lanes; //!< per part
    };

    void CountBytes();

    const std::vector<Collective>& m_collectives;
    std::vector<std::unique_ptr<const ProgramTemplate>> m_programs; //!< those that are used
    std::vector<Placement> m_placements;
    std::vector<uint32_t> m_placementOf; //!< per collective
    uint64_t m_totalBytes{0};
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_PLANS_H
