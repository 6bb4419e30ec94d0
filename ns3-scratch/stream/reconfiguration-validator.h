/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RECONFIGURATION_VALIDATOR_H
#define COSIM_RECONFIGURATION_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/// The most ranks that circuits link: distances between all of them are kept.
constexpr uint32_t MAX_CIRCUIT_RANKS = 4096;

/**
 * Check that the links of a topology are circuits between its ranks, and can change.
 *
 * @param topology with reconfiguration; its links are valid
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
void ValidateReconfiguration(const Topology& topology);

} // namespace cosim

#endif // COSIM_RECONFIGURATION_VALIDATOR_H
