/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SLOT_POOLS_H
#define COSIM_SLOT_POOLS_H

#include "stream/stream.h"
#include "system/collective-plans.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The pools of slots that each rank has: one for each dimension, or one for each dimension and
 * level (SystemSettings::slotsPerLevel). A part of a chunk takes its slot from one pool.
 */
class SlotPools
{
  public:
    /**
     * @param stream its topology and settings
     * @param plans the prepared collectives
     */
    SlotPools(const Stream& stream, const CollectivePlans& plans);

    /// @return the number of slots in each pool
    const std::vector<uint32_t>& GetLimits() const
    {
        return m_limits;
    }

    /// @return the pool of a part
    uint32_t GetPool(const ProgramTemplate::Part& part) const
    {
        return m_perLevel ? part.level * m_dimensions + part.dimension : part.dimension;
    }

    /// @return the dimension of a pool
    uint32_t GetDimension(uint32_t pool) const
    {
        return pool % m_dimensions;
    }

    /// @return the name of a pool, for an error message
    std::string Describe(const Topology& topology, uint32_t pool) const;

  private:
    uint32_t m_dimensions; //!< of the topology
    bool m_perLevel;
    std::vector<uint32_t> m_limits; //!< per pool
};

} // namespace cosim

#endif // COSIM_SLOT_POOLS_H
