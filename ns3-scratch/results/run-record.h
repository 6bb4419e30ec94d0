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
