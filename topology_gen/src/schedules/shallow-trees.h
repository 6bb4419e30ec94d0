/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SHALLOW_TREES_H
#define COSIM_SHALLOW_TREES_H

#include "graphs/capacities.h"
#include "schedules/tree-packing.h"

#include <optional>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Packs spanning trees of shortest paths into a digraph, if that is possible.
 *
 * In such a tree, every node has a link from a node that is one hop nearer to the root. Any choice
 * of these links is a tree. So it suffices that each node takes as many of them as there are trees,
 * and no link is taken more often than its capacity, which one greatest flow decides.
 *
 * @param graph a digraph
 * @param wanted for each node, the number of trees that start there
 * @return the trees, or nothing if shortest paths do not suffice
 * @throws std::invalid_argument if the arrays do not fit together
 */
std::optional<std::vector<Tree>> FindShallowTrees(const Capacities& graph,
                                                  std::span<const int64_t> wanted);

} // namespace cosim

#endif // COSIM_SHALLOW_TREES_H
