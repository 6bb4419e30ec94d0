/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NUMBERED_PATHS_H
#define COSIM_NUMBERED_PATHS_H

#include "graphs/target-search.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Follows shortest paths to one target by their numbers. At every node, the paths over the link
 * with the smallest id have the smallest numbers.
 */
class NumberedPaths
{
  public:
    /// @param search the latest search; must outlive this object
    explicit NumberedPaths(const TargetSearch& search);

    /// Count the paths to the target of a new search.
    void Count();

    /**
     * Choose a path for each of some routes of a pair, such that they differ as far as they can.
     *
     * @param from a node from which the search began
     * @param first chooses the path of route 0; any number
     * @param route the route, from 0
     * @param routes number of routes
     * @return number of a path from the node to the target; there must be one
     */
    int64_t GetNumber(uint32_t from, int64_t first, int64_t route, int64_t routes) const;

    /**
     * Append the links of a path.
     *
     * @param from a node
     * @param to the target
     * @param number number of the path, from GetNumber
     * @param links receives the links
     */
    void Follow(uint32_t from, uint32_t to, int64_t number, std::vector<uint32_t>& links) const;

  private:
    /// Shortest paths of a pair that are told apart.
    static constexpr int64_t MOST = int64_t{1} << 40;

    int64_t CountNext(uint32_t link, double cost) const;

    const TargetSearch& m_search;
    std::vector<uint32_t> m_counted; //!< places with a count
    std::vector<int64_t> m_count;    //!< for each place, number of shortest paths to the target
};

} // namespace cosim

#endif // COSIM_NUMBERED_PATHS_H
