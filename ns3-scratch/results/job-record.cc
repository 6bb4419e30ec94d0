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

uint32_t
JobRecord::GetKinds() const
{
    return m_jobs.empty() ? 0 : uint32_t{NODES};
}

void
JobRecord::OnNodeBegun(const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    if (!trace.job.empty() && trace.job[event.node] != 0)
    {
        Job& job = m_jobs[trace.job[event.node] - 1];
        job.start = std::min(job.start, event.timePs);
    }
}

void
JobRecord::OnNodeEnded(const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    if (!trace.job.empty() && trace.job[event.node] != 0)
    {
        Iteration& iteration =
            m_jobs[trace.job[event.node] - 1].iterations[trace.iteration[event.node]];
        iteration.end = event.timePs;
        --iteration.nodesLeft;
    }
}

} // namespace cosim
