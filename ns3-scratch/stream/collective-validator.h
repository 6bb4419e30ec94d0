/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_VALIDATOR_H
#define COSIM_COLLECTIVE_VALIDATOR_H

#include "stream/path-table.h"
#include "stream/stream.h"

namespace cosim
{

/**
 * Check the collectives: their programs, groups and sizes, and the paths of their messages.
 *
 * @param stream a stream with a validated topology and validated programs
 * @param paths the paths of the topology
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateCollectives(const Stream& stream, const PathTable& paths);

} // namespace cosim

#endif // COSIM_COLLECTIVE_VALIDATOR_H
