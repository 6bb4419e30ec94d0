/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/path-index.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cosim
{

PathIndex::PathIndex(const Topology& topology)
    : m_topology(topology),
      m_pathOf(topology.GetEndpoints(), topology.pathSource, topology.pathTarget)
{
}

void
PathIndex::Refuse(Rank src, Rank dst) const
{
    if (src >= m_topology.GetEndpoints() || dst >= m_topology.GetEndpoints())
    {
        throw std::invalid_argument("rank " + std::to_string(std::max(src, dst)) +
                                    " does not exist: ranks are 0 to " +
                                    std::to_string(m_topology.ranks - 1));
    }
    throw std::invalid_argument("there is no path from rank " + std::to_string(src) + " to rank " +
                                std::to_string(dst));
}

} // namespace cosim
