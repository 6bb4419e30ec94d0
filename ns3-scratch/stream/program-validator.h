/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRAM_VALIDATOR_H
#define COSIM_PROGRAM_VALIDATOR_H

#include "stream/stream.h"

#include <vector>

namespace cosim
{

/**
 * Check programs: the lengths and values of their arrays, that SEND and RECV steps match in pairs,
 * and that the pieces of compositions fit together.
 *
 * @param programs the programs
 * @param topology the topology that they run on
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidatePrograms(const std::vector<Program>& programs, const Topology& topology);

} // namespace cosim

#endif // COSIM_PROGRAM_VALIDATOR_H
