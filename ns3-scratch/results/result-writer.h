/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RESULT_WRITER_H
#define COSIM_RESULT_WRITER_H

#include "network/network-statistics.h"
#include "results/path-record.h"
#include "results/repeat-record.h"
#include "results/run-record.h"
#include "stream/stream.h"
#include "system/admission.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/// The outcome of a run.
struct RunOutcome
{
    std::string status; //!< "complete", "interrupted", "deadlock", "failed" or "time_limit"
    std::string error;  //!< a sentence; empty if there was no error
    /// simulated time at the end of the workload, or of the run if the workload did not end
    uint64_t timePs{0};
    uint64_t events{0}; //!< number of events that ns-3 executed
};

/**
 * Write the result of a run as JSON text. Times are exact, in nanoseconds. Iterations and
 * collectives that have not ended are left out.
 *
 * @param stream the stream that was run
 * @param outcome the outcome of the run
 * @param record data that the observers recorded
 * @param scheduler the scheduler of the collectives' chunks
 * @param network statistics of the fabric
 * @param path critical paths of the iterations; null if they were not recorded
 * @param repeat skipped iterations; null if every iteration is simulated
 * @return the JSON text
 */
std::string WriteResult(const Stream& stream,
                        const RunOutcome& outcome,
                        const RunRecord& record,
                        const Admission& scheduler,
                        const NetworkStatistics& network,
                        const PathRecord* path,
                        const RepeatRecord* repeat);

/**
 * @param network statistics of a fabric
 * @return the "network" object of a result as JSON text
 */
std::string WriteNetworkStatistics(const NetworkStatistics& network);

} // namespace cosim

#endif // COSIM_RESULT_WRITER_H
