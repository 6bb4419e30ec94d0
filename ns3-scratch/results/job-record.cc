/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/job-record.h"

#include <algorithm>

namespace cosim
{

JobRecord::JobRecord(const Stream& stream)
{
    for (const Trace& trace : stream.traces)
    {
        m_jobs.resize(trace.jobs.size());
        for (std::size_t i = 0; i < trace.jobs.size(); ++i)
        {
            m_jobs[i].name = trace.jobs[i];
        }
        for (std::size_t node = 0; node < trace.job.size(); ++node)
        {
            if (trace.job[node] != 0)
            {
                std::vector<Iteration>& iterations = m_jobs[trace.job[node] - 1].iterations;
                const std::size_t index = trace.iteration[node];
                iterations.resize(std::max(iterations.size(), index + 1));
                iterations[index].nodesLeft += trace.ranks.size();
            }
        }
    }
}

void
JobRecord::StartNode(const Trace& trace, uint32_t node, uint64_t now)
{
    if (!trace.job.empty() && trace.job[node] != 0)
    {
        Job& job = m_jobs[trace.job[node] - 1];
        job.start = std::min(job.start, now);
    }
}

void
JobRecord::FinishNode(const Trace& trace, uint32_t node, uint64_t now)
{
    if (!trace.job.empty() && trace.job[node] != 0)
    {
        Iteration& iteration = m_jobs[trace.job[node] - 1].iterations[trace.iteration[node]];
        iteration.end = now;
        --iteration.nodesLeft;
    }
}

} // namespace cosim
