/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_VALIDATORS_H
#define COSIM_VALIDATORS_H

#include "stream/path-table.h"
#include "stream/stream.h"

namespace cosim
{

/**
 * @file
 * The parts of ValidateStream. Each checks the limits of fields (see stream-fields.h) and what
 * relates fields and records, and throws std::invalid_argument with one sentence that describes the
 * first error.
 */

/**
 * Check the topology and the settings.
 *
 * @return the pairs of ranks that have paths
 */
PathTable ValidateTopology(const Stream& stream);

/**
 * Check the programs: that SEND and RECV steps match in pairs, and that the pieces of compositions
 * fit together. The topology has been checked.
 */
void ValidatePrograms(const Stream& stream);

/**
 * Check the collectives and the traces, and that each rank issues each of its collectives at most
 * once. The topology and the programs have been checked.
 */
void ValidateTraces(const Stream& stream, const PathTable& paths);

} // namespace cosim

#endif // COSIM_VALIDATORS_H
