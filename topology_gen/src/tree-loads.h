/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TREE_LOADS_H
#define COSIM_TREE_LOADS_H

#include "link-table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Loads of shortest-path trees in a digraph whose links have lengths by class: what a node's
 * sending 1 to every other node puts on each class of links.
 */
class TreeLoads
{
  public:
    /**
     * @param nodes how many nodes
     * @param source of each link
     * @param target of each link
     * @param linkClass of each link, an index into the lengths
     * @param length of each class, not negative
     * @throws std::invalid_argument if a link has no class
     */
    TreeLoads(uint32_t nodes,
              std::span<const uint32_t> source,
              std::span<const uint32_t> target,
              std::span<const uint32_t> linkClass,
              std::span<const double> length);

    /**
     * Find the tree of a root (Dijkstra's algorithm).
     *
     * @param root a node
     * @param loads of each class, overwritten
     * @return the sum of the root's distances to all other nodes
     * @throws std::invalid_argument if a node is not reached
     */
    double Run(uint32_t root, std::span<double> loads) const;

  private:
    LinkTable m_outLinks;              //!< of the transpose, whose in-links are out-links here
    std::vector<uint32_t> m_linkClass; //!< of each link
    std::vector<double> m_length;      //!< of each class
};

} // namespace cosim

#endif // COSIM_TREE_LOADS_H
