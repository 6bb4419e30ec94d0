/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_VALIDATOR_H
#define COSIM_STREAM_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/// The largest time that a stream may hold and a run may reach [ps], about 26 days: the sum of
/// two of them is well within ns3::Time.
constexpr uint64_t MAX_TIME_PS = uint64_t{1} << 61;

/// The most bytes of one collective, message or buffer: 256 TiB.
constexpr uint64_t MAX_BYTES = uint64_t{1} << 48;

/// The most nodes of a topology, and the most chunks of a collective.
constexpr uint32_t MAX_COUNT = uint32_t{1} << 20;

/**
 * Check that a stream can be run: every id is in range, every array has its length, the steps of a
 * program match in pairs, paths are consecutive links, and every pair of ranks that communicates
 * has a path both ways. What is not checked is whether the work can be finished: circular
 * dependencies end a run with its deadlock report.
 *
 * @param stream the stream
 * @throws std::invalid_argument with one sentence that names the first thing found wrong
 */
void ValidateStream(const Stream& stream);

} // namespace cosim

#endif // COSIM_STREAM_VALIDATOR_H
