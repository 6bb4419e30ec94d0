/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/exposed-time.h"

#include <algorithm>

namespace cosim
{

void
RecordExposed(const TraceWorker& worker, uint64_t now, uint32_t last, TimingRecord& timing)
{
    const uint64_t from = worker.idleSince;
    uint64_t to = now;
    const Trace& trace = *worker.plan->trace;
    while (last != TraceWorker::NONE && from < to && trace.type[last] != NodeType::COMPUTE)
    {
        const uint64_t end = std::min(to, worker.end[last]);
        const uint64_t start = std::max(from, worker.start[last]);
        const bool communicates =
            trace.type[last] == NodeType::COLLECTIVE || trace.type[last] == NodeType::RECV;
        if (end > start && communicates)
        {
            timing.AddExposed(trace.iteration[last], trace.layer[last], end - start);
        }
        to = std::min(start, end);
        last = worker.GetLastDependency(last);
    }
}

} // namespace cosim
