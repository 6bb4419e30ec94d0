/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ZONES_H
#define COSIM_ZONES_H

#include "network/path-index.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The independent parts of a network that carries packets. Two flows are in one zone if their
 * packets or acknowledgments share a link or the memory of a switch, directly or through others.
 * What happens to packets in a zone depends only on what is sent in the zone.
 */
class Zones
{
  public:
    /**
     * @param topology links and paths; if paths can change during the run, all are in one zone
     * @param paths the index of the paths
     */
    Zones(const Topology& topology, const PathIndex& paths);

    /// @return the number of zones
    uint32_t GetCount() const
    {
        return m_count;
    }

    /// @return the zone of a path, from 0; zones are numbered in the order of their first paths
    uint32_t Get(uint32_t path) const
    {
        return m_zones[path];
    }

  private:
    std::vector<uint32_t> m_zones; //!< per path
    uint32_t m_count{0};
};

} // namespace cosim

#endif // COSIM_ZONES_H
