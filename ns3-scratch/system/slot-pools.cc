/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/slot-pools.h"

#include <algorithm>

namespace cosim
{

SlotPools::SlotPools(const Stream& stream, const CollectivePlans& plans)
    : m_dimensions(static_cast<uint32_t>(stream.topology.dimensions.size())),
      m_perLevel(stream.settings.system.slotsPerLevel)
{
    uint32_t levels = 1;
    if (m_perLevel)
    {
        for (const CollectivePlans::Placement& placement : plans.GetPlacements())
        {
            for (const ProgramTemplate::Part& part : placement.program->GetParts())
            {
                levels = std::max(levels, part.level + 1);
            }
        }
    }
    const std::vector<uint32_t>& each = stream.settings.system.concurrentChunks;
    for (uint32_t level = 0; level < levels; ++level)
    {
        m_limits.insert(m_limits.end(), each.begin(), each.end());
    }
}

std::string
SlotPools::Describe(const Topology& topology, uint32_t pool) const
{
    const std::string dimension = "dimension " + topology.dimensions[GetDimension(pool)];
    return m_perLevel ? "level " + std::to_string(pool / m_dimensions) + " in " + dimension
                      : dimension;
}

} // namespace cosim
