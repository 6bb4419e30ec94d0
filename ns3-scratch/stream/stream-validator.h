/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STREAM_VALIDATOR_H
#define COSIM_STREAM_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/**
 * The largest time that a stream may hold and that a run may reach [ps], about 26 days. The sum of
 * two such times fits into ns3::Time.
 */
constexpr uint64_t MAX_TIME_PS = uint64_t{1} << 61;

/**
 * The largest delay [ps], 1000 s: of a latency, a timeout, or an interval between events. A sum of
 * thousands of them fits into ns3::Time.
 */
constexpr uint64_t MAX_DELAY_PS = 1'000'000'000'000'000;

/// The smallest rate of a link [bit/s]. Its largest packet lasts about MAX_DELAY_PS.
constexpr uint64_t MIN_RATE_BPS = 1000;

/// The largest size of a collective, message or buffer [bytes]: 256 TiB.
constexpr uint64_t MAX_BYTES = uint64_t{1} << 48;

/// All packets, as parts of 10^9.
constexpr uint32_t ALL_PPB = 1'000'000'000;

/**
 * The largest number of ranks that circuits can link. The limit exists because the distances
 * between all pairs are kept in memory.
 */
constexpr uint32_t MAX_CIRCUIT_RANKS = 4096;

/// The largest number of nodes of a topology, and of chunks of a collective.
constexpr uint32_t MAX_COUNT = uint32_t{1} << 20;

/**
 * Check that a stream can be run.
 *
 * Every id must be in range, every array must have its expected length, the steps of a program must
 * match in pairs, the links of a path must be consecutive, and every pair of ranks that
 * communicates must have a path in both directions. The check does not cover circular dependencies:
 * they end a run with a deadlock report.
 *
 * @param stream the stream
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateStream(const Stream& stream);

} // namespace cosim

#endif // COSIM_STREAM_VALIDATOR_H
