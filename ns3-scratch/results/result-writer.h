/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RESULT_WRITER_H
#define COSIM_RESULT_WRITER_H

#include "network/network-statistics.h"
#include "results/critical-path.h"
#include "results/run-record.h"
#include "stream/stream.h"
#include "system/admission.h"

#include <cstdint>
#include <string>

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

/// What a result is written from.
struct RunData
{
    const Stream& stream;
    const RunOutcome& outcome;
    const RunRecord& record;
    const Admission& admission; //!< of the collectives' chunks
    const NetworkStatistics& network;
    const PathRecord* path; //!< critical paths; null if they were not recorded
};

/**
 * @param run a run
 * @return its result as JSON text. Times are exact, in nanoseconds. Iterations and collectives that
 * have not ended are left out.
 */
std::string WriteResult(const RunData& run);

/**
 * @param network statistics of a fabric
 * @return the "network" object of a result as JSON text
 */
std::string WriteNetworkStatistics(const NetworkStatistics& network);

} // namespace cosim

#endif // COSIM_RESULT_WRITER_H
