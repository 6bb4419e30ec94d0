/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RECONFIGURATION_VALIDATOR_H
#define COSIM_RECONFIGURATION_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/**
 * The largest number of ranks that circuits can link. The limit exists because the distances
 * between all pairs are kept in memory.
 */
constexpr uint32_t MAX_CIRCUIT_RANKS = 4096;

/**
 * Check that all links of a topology are circuits between ranks, so that they can change.
 *
 * @param topology a topology with reconfiguration and valid links
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateReconfiguration(const Topology& topology);

} // namespace cosim

#endif // COSIM_RECONFIGURATION_VALIDATOR_H
