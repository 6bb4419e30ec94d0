/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WALK_LOADS_H
#define COSIM_WALK_LOADS_H

#include "graphs/weighted-links.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Computes the loads of an all-to-all over random walks: every root sends 1 to every other node
 * over all walks of at most `hops` links, each in proportion to the product of its links' weights.
 *
 * @param links the digraph
 * @param roots the senders
 * @param weight for each class, its weight
 * @param hops greatest length of a walk
 * @return for each class, its load from all roots together
 * @throws std::invalid_argument if a node does not exist, or such walks do not reach it
 */
std::vector<double> WalkLoads(const LinkView& links,
                              std::span<const uint32_t> roots,
                              std::span<const double> weight,
                              uint32_t hops);

} // namespace cosim

#endif // COSIM_WALK_LOADS_H
