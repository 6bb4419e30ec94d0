/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_VALIDATOR_H
#define COSIM_TRACE_VALIDATOR_H

#include "stream/path-table.h"
#include "stream/stream.h"

namespace cosim
{

/**
 * Check the traces, and that each rank issues each of its collectives at most once.
 *
 * @param stream a stream whose topology, programs and collectives are validated
 * @param paths the paths of the topology
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateTraces(const Stream& stream, const PathTable& paths);

} // namespace cosim

#endif // COSIM_TRACE_VALIDATOR_H
