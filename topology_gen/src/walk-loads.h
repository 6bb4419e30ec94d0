/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WALK_LOADS_H
#define COSIM_WALK_LOADS_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A digraph's links, and the classes of those that are alike.
struct LinkView
{
    uint32_t nodes;                      //!< how many nodes
    std::span<const uint32_t> source;    //!< of each link
    std::span<const uint32_t> target;    //!< of each link
    std::span<const uint32_t> linkClass; //!< of each link, an index into the classes
};

/**
 * Loads of an all-to-all over random walks: a root sends 1 to every other node, over all walks of
 * at most so many hops, each as likely as the product of its links' weights.
 *
 * @param links the digraph
 * @param roots the senders
 * @param weight of each class
 * @param hops the longest walk
 * @return of each class, the load of all roots
 * @throws std::invalid_argument if a node is not there, or not reached by such walks
 */
std::vector<double> WalkLoads(const LinkView& links,
                              std::span<const uint32_t> roots,
                              std::span<const double> weight,
                              uint32_t hops);

} // namespace cosim

#endif // COSIM_WALK_LOADS_H
