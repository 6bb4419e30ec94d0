/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NUMBERED_PATHS_H
#define COSIM_NUMBERED_PATHS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A digraph with costs, where paths enter and leave some nodes at different places.
struct CostView
{
    std::size_t places;               //!< number of places that links enter
    std::span<const uint32_t> source; //!< for each link, the node that it leaves
    std::span<const uint32_t> target; //!< for each link, the node that it enters
    std::span<const uint32_t> place;  //!< for each link, the place that it enters
    std::span<const double> cost;     //!< for each link, its cost, a whole number above 0
};

/**
 * Follows shortest paths to one target by their numbers. At every node, the paths over the link
 * with the smallest id have the smallest numbers.
 */
class NumberedPaths
{
  public:
    /**
     * @param nodes number of nodes
     * @param links the digraph; must outlive this object
     * @throws std::invalid_argument if a node or place does not exist
     */
    NumberedPaths(std::size_t nodes, const CostView& links);

    /**
     * Choose a target.
     *
     * @param distance for each node, and then for each other place, its cost to the target; must
     * outlive the use of the target
     */
    void SetTarget(std::span<const double> distance);

    /**
     * Choose a path for each of some routes of a pair, such that they differ as far as they can.
     *
     * @param from a node
     * @param first chooses the path of route 0; any number
     * @param route the route, from 0
     * @param routes number of routes
     * @return number of a path from the node to the target
     * @throws std::invalid_argument if there is no path
     */
    int64_t GetNumber(uint32_t from, int64_t first, int64_t route, int64_t routes) const;

    /**
     * Append the links of a path.
     *
     * @param from a node
     * @param to the target
     * @param number number of the path, from GetNumber
     * @param links receives the links
     * @throws std::invalid_argument if there is no such path
     */
    void Follow(uint32_t from, uint32_t to, int64_t number, std::vector<uint32_t>& links) const;

  private:
    /// Shortest paths of a pair that are told apart.
    static constexpr int64_t MOST = int64_t{1} << 40;

    int64_t CountNext(uint32_t link, double left) const;

    const CostView& m_links;
    std::size_t m_nodes;
    std::vector<std::size_t> m_begin; //!< for each node, its first link in m_out; and the end
    std::vector<uint32_t> m_out;      //!< links by the node that they leave
    std::span<const double> m_distance;
    std::vector<int64_t> m_count;  //!< for each place, number of shortest paths to the target
    std::vector<uint32_t> m_order; //!< the nodes by distance; memory that SetTarget reuses
};

} // namespace cosim

#endif // COSIM_NUMBERED_PATHS_H
