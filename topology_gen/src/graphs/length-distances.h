/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LENGTH_DISTANCES_H
#define COSIM_LENGTH_DISTANCES_H

#include "graphs/weighted-links.h"

#include <cstdint>
#include <span>

namespace cosim
{

/**
 * Adds up the distances from some nodes to all others, where links have lengths by class.
 *
 * @param links the digraph
 * @param roots the nodes to start from
 * @param length for each class, its length, not negative
 * @return the sum of the distances
 * @throws std::invalid_argument if a node or class does not exist, or a node is not reached
 */
double SumDistances(const LinkView& links,
                    std::span<const uint32_t> roots,
                    std::span<const double> length);

} // namespace cosim

#endif // COSIM_LENGTH_DISTANCES_H
