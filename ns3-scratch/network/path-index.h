/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_INDEX_H
#define COSIM_PATH_INDEX_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "support/pair-index.h"

#include <cstdint>

namespace cosim
{

/**
 * Finds the path of a pair of ranks. A pair can have several paths, its *routes*, which follow each
 * other in the topology.
 */
class PathIndex
{
  public:
    /// @param topology the paths; must outlive this object
    explicit PathIndex(const Topology& topology);

    /**
     * @param src the sending rank
     * @param dst the receiving rank
     * @param route index of the path among the paths of this pair, from 0
     * @return the index of the path
     * @throws std::invalid_argument if a rank does not exist or the topology has no path for them
     */
    uint32_t Find(Rank src, Rank dst, uint32_t route = 0) const
    {
        const uint32_t ranks = m_topology.GetEndpoints();
        const uint32_t path =
            src < ranks && dst < ranks ? m_pathOf.Find(src, dst) : PairIndex::NONE;
        if (path == PairIndex::NONE)
        {
            Refuse(src, dst);
        }
        return path + route; // the stream validators have checked that the route exists
    }

    /// @return whether a path leads from a rank to another
    bool Has(Rank src, Rank dst) const
    {
        return m_pathOf.Find(src, dst) != PairIndex::NONE;
    }

    /// @return the index of a path among the paths of its pair of ranks
    uint32_t GetRoute(uint32_t path) const
    {
        return path - m_pathOf.Find(m_topology.pathSource[path], m_topology.pathTarget[path]);
    }

    /// @return the path with the same route in the opposite direction
    uint32_t GetReverse(uint32_t path) const
    {
        return Find(m_topology.pathTarget[path], m_topology.pathSource[path], GetRoute(path));
    }

  private:
    [[noreturn]] void Refuse(Rank src, Rank dst) const;

    const Topology& m_topology;
    PairIndex m_pathOf; //!< first path of each pair; the others follow it
};

} // namespace cosim

#endif // COSIM_PATH_INDEX_H
