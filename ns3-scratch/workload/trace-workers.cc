/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-workers.h"

namespace cosim
{

TraceWorker::TraceWorker(Rank ofRank, const TracePlan& ofTrace)
    : rank(ofRank),
      plan(&ofTrace),
      pending(ofTrace.pending),
      start(ofTrace.pending.size(), UNKNOWN),
      end(ofTrace.pending.size(), UNKNOWN),
      nodesLeft(static_cast<uint32_t>(ofTrace.pending.size()))
{
}

uint32_t
TraceWorker::GetLastDependency(uint32_t node) const
{
    const Trace& trace = *plan->trace;
    uint32_t last = NONE;
    for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
    {
        const uint32_t dep = trace.dep[d];
        if (last == NONE || end[dep] >= end[last])
        {
            last = dep;
        }
    }
    return last;
}

uint32_t
TraceWorker::GetLastCommunication() const
{
    uint32_t last = NONE;
    for (uint32_t node = 0; node < end.size(); ++node)
    {
        if (plan->trace->type[node] != NodeType::COMPUTE &&
            (last == NONE || end[node] >= end[last]))
        {
            last = node;
        }
    }
    return last;
}

TraceWorkers::TraceWorkers(const Stream& stream)
    : m_idOf(stream.topology.ranks, TraceWorker::NONE)
{
    m_plans.reserve(stream.traces.size()); // workers point into it
    for (const Trace& trace : stream.traces)
    {
        const TracePlan& plan = m_plans.emplace_back(trace);
        for (const Rank rank : trace.ranks)
        {
            m_idOf[rank] = GetCount();
            m_workers.emplace_back(rank, plan);
        }
        for (std::size_t i = 0; i < trace.type.size(); ++i)
        {
            if (trace.type[i] == NodeType::SEND)
            {
                m_messageBytes += trace.bytes[i] * trace.ranks.size();
            }
        }
    }
}

} // namespace cosim
