/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HASHED_PATHS_H
#define COSIM_HASHED_PATHS_H

#include "graphs/target-search.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Follows shortest paths to one target. Where a path can continue over several links, a hash of the
 * flow and the hop selects one.
 */
class HashedPaths
{
  public:
    /**
     * @param search the latest search; must outlive this object
     * @param salt added to the number of the hop
     */
    HashedPaths(const TargetSearch& search, uint64_t salt);

    /**
     * Append the links of a flow's path.
     *
     * @param from a node from which the search began; there must be a path
     * @param to the target
     * @param route the flow among those of this pair
     * @param links receives the links
     */
    void Follow(uint32_t from, uint32_t to, uint64_t route, std::vector<uint32_t>& links);

  private:
    const TargetSearch& m_search;
    uint64_t m_salt;
    std::vector<uint32_t> m_next; //!< links over which a path can continue
};

} // namespace cosim

#endif // COSIM_HASHED_PATHS_H
