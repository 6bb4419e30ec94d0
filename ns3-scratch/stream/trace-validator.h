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
 * Check the traces, and that each collective is issued at most once by each of its ranks.
 *
 * @param stream a stream whose topology, programs and collectives are validated
 * @param paths the paths of its topology
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
void ValidateTraces(const Stream& stream, const PathTable& paths);

} // namespace cosim

#endif // COSIM_TRACE_VALIDATOR_H
