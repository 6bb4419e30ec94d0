/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RUN_RECORD_H
#define COSIM_RUN_RECORD_H

#include "network/run-observers.h"
#include "results/collective-record.h"
#include "results/exposed-time.h"
#include "results/job-record.h"
#include "results/link-record.h"
#include "results/shared-links.h"
#include "results/timing-record.h"
#include "stream/stream.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// The observers that record the data for the result of a run.
struct RunRecord
{
    /**
     * @param stream the workload
     * @param observers the observers of this record are added to it; the record must outlive its
     * use
     */
    RunRecord(const Stream& stream, RunObservers& observers)
        : timing(stream),
          exposed(stream, timing),
          jobs(stream),
          collectives(stream),
          shared(stream.topology)
    {
        observers.Add(timing);
        observers.Add(exposed);
        observers.Add(jobs);
        observers.Add(collectives);
        observers.Add(links);
        observers.Add(shared);
    }

    /// What of the record a repetition refers to, at a time.
    struct State
    {
        TimingRecord::State timing;
        std::size_t collectives{0};
        std::vector<uint64_t> shared;
    };

    /// @return the state now
    State GetState() const
    {
        return {timing.GetState(), collectives.GetDone(), shared.GetBytes()};
    }

    /**
     * Record iterations that repeat what was recorded since an earlier time, while each rank
     * computes and no collective is under way. The clock has not been set forward yet.
     *
     * @param from the state at the earlier time
     * @param repetition the repeated iterations
     */
    void Repeat(const State& from, const Repetition& repetition)
    {
        timing.Repeat(from.timing, repetition);
        exposed.Skip(repetition);
        collectives.Repeat(from.collectives, repetition);
        shared.Repeat(from.shared, repetition.times);
    }

    RunRecord(const RunRecord&) = delete;
    RunRecord& operator=(const RunRecord&) = delete;

    TimingRecord timing;
    ExposedTime exposed; //!< writes its sums to timing
    JobRecord jobs;
    CollectiveRecord collectives;
    LinkRecord links;
    SharedLinks shared;
};

} // namespace cosim

#endif // COSIM_RUN_RECORD_H
