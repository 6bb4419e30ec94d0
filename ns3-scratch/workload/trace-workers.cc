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
      state(ofTrace.pending.size(), NodeState::WAITING),
      nodesLeft(static_cast<uint32_t>(ofTrace.pending.size()))
{
    for (const uint32_t slots : plan->trace->laneSlots)
    {
        lanes.push_back({slots});
    }
}

TraceWorkers::TraceWorkers(const Stream& stream)
    : m_idOf(stream.topology.ranks, TraceWorker::NONE)
{
    m_plans.reserve(stream.traces.size()); // workers point to the plans, which must not move
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
