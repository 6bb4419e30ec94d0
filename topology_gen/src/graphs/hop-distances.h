/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HOP_DISTANCES_H
#define COSIM_HOP_DISTANCES_H

#include "graphs/link-table.h"

#include <cstdint>
#include <span>

namespace cosim
{

/// Distances in hops from some nodes to all others.
struct HopDistances
{
    uint32_t greatest; //!< the greatest distance
    uint64_t sum;      //!< the sum of the distances
};

/**
 * Finds the distances in a digraph.
 *
 * @param outLinks the links by the node that they leave, which is a table of the transpose
 * @param roots the nodes to start from
 * @return the distances from the roots
 * @throws std::invalid_argument if a node is not reached, or a root does not exist
 */
HopDistances FindDistances(const LinkTable& outLinks, std::span<const uint32_t> roots);

/**
 * Finds the distances in a digraph of rules. A search for digraphs calls this for every digraph
 * that it tries, so it makes no link table.
 *
 * @param nodes number of nodes
 * @param target for each rule and node, the node that the rule links it to
 * @param roots number of nodes 0 … roots-1 to start from
 * @return the distances from the roots
 * @throws std::invalid_argument if a node is not reached or does not exist
 */
HopDistances FindRuleDistances(uint32_t nodes, std::span<const uint32_t> target, uint32_t roots);

} // namespace cosim

#endif // COSIM_HOP_DISTANCES_H
