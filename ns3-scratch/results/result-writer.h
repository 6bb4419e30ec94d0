/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RESULT_WRITER_H
#define COSIM_RESULT_WRITER_H

#include "network/network-statistics.h"
#include "results/run-record.h"
#include "stream/stream.h"
#include "system/chunk-scheduler.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/// How a run ended.
struct RunOutcome
{
    std::string status; //!< "complete", "interrupted", "deadlock", "failed" or "time_limit"
    std::string error;  //!< a sentence; empty without an error
    uint64_t timePs{0}; //!< simulated time at the end of the workload, or of the run
    uint64_t events{0}; //!< that ns-3 executed
};

/**
 * Write the result of a run as JSON text. Times are exact, in nanoseconds. Iterations and
 * collectives that have not ended are left out.
 *
 * @param stream what was run
 * @param outcome how it ended
 * @param record what its observers recorded
 * @param scheduler the scheduler of its chunks
 * @param network what the fabric measured
 * @return the text
 */
std::string WriteResult(const Stream& stream,
                        const RunOutcome& outcome,
                        const RunRecord& record,
                        const ChunkScheduler& scheduler,
                        const NetworkStatistics& network);

/**
 * @param network what a fabric measured
 * @return the "network" object of a result as JSON text
 */
std::string WriteNetworkStatistics(const NetworkStatistics& network);

} // namespace cosim

#endif // COSIM_RESULT_WRITER_H
