/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_PLANS_H
#define COSIM_COLLECTIVE_PLANS_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "system/program-template.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/// The collectives of a stream, prepared for running: the template of each program.
class CollectivePlans
{
  public:
    /// A program at a group of ranks. Collectives share it.
    struct Placement
    {
        const ProgramTemplate* program;
        const std::vector<Rank>* ranks; //!< ranks of the members
        uint32_t group;                 //!< see GetGroup
    };

    /**
     * @param stream programs and collectives; its collectives must outlive this object, its
     * programs need not
     */
    explicit CollectivePlans(const Stream& stream);

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

    /// @return the programs of all collectives at their groups
    const std::vector<Placement>& GetPlacements() const
    {
        return m_placements;
    }

    /// @return index in GetPlacements of a collective's program and group
    uint32_t GetPlacement(uint32_t collective) const
    {
        return m_placementOf[collective];
    }

    /// @return the number of the group of a collective; other programs of the same ranks share it
    uint32_t GetGroup(uint32_t collective) const
    {
        return m_placements[m_placementOf[collective]].group;
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
