/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAPACITIES_H
#define COSIM_CAPACITIES_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A digraph whose links have whole-numbered capacities; parallel links are allowed.
struct Capacities
{
    uint32_t nodes;
    std::span<const uint32_t> source;  //!< for each link, the node that it leaves
    std::span<const uint32_t> target;  //!< for each link, the node that it enters
    std::span<const int64_t> capacity; //!< for each link, at least 0
};

/// @throws std::invalid_argument if the arrays do not fit together or a capacity is negative
void Check(const Capacities& graph);

/// The answer of FindTightestCut.
struct Cut
{
    bool suffices;             //!< whether every receiver can get everything
    std::vector<uint8_t> side; //!< for each node, 1 on the senders' side of a cut that is too small
};

/**
 * Checks whether every receiver can get what all nodes supply, if all other receivers get the same
 * data over the same links (J. Edmonds, "Edge-disjoint branchings", 1973).
 *
 * @param graph a digraph
 * @param supply for each node, the amount that all receivers need from it
 * @param receivers number of receivers, which are the first nodes
 * @return a cut with too little capacity, if there is one
 */
Cut FindTightestCut(const Capacities& graph, std::span<const int64_t> supply, uint32_t receivers);

} // namespace cosim

#endif // COSIM_CAPACITIES_H
