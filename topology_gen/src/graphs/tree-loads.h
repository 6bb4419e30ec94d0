/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TREE_LOADS_H
#define COSIM_TREE_LOADS_H

#include "graphs/link-table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * The loads of shortest-path trees in a digraph whose links have lengths by class.
 *
 * The root of a tree sends 1 to every other node; the load of a class is what its links carry.
 */
class TreeLoads
{
  public:
    /**
     * @param nodes number of nodes
     * @param source for each link, the node that it leaves
     * @param target for each link, the node that it enters
     * @param linkClass for each link, its class, an index into the lengths
     * @param length for each class, its length, not negative
     * @throws std::invalid_argument if a link has no class
     */
    TreeLoads(uint32_t nodes,
              std::span<const uint32_t> source,
              std::span<const uint32_t> target,
              std::span<const uint32_t> linkClass,
              std::span<const double> length);

    /**
     * Finds the tree of a root (Dijkstra's algorithm).
     *
     * @param root a node
     * @param loads for each class, its load; overwritten
     * @return the sum of the root's distances to all other nodes
     * @throws std::invalid_argument if the root cannot reach a node
     */
    double Run(uint32_t root, std::span<double> loads) const;

  private:
    LinkTable m_outLinks;              //!< the transpose's in-links, which are the out-links
    std::vector<uint32_t> m_linkClass; //!< for each link, its class
    std::vector<double> m_length;      //!< for each class, its length
};

} // namespace cosim

#endif // COSIM_TREE_LOADS_H
