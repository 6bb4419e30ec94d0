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
 * Check the collectives: their programs, groups, sizes, and the paths that their messages take.
 *
 * @param stream a stream whose topology and programs are validated
 * @param paths the paths of its topology
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
void ValidateCollectives(const Stream& stream, const PathTable& paths);

} // namespace cosim

#endif // COSIM_COLLECTIVE_VALIDATOR_H
