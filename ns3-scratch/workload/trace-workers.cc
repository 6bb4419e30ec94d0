/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-workers.h"

namespace cosim
{

TraceWorker::TraceWorker(Rank ofRank, const TracePlan& ofTrace, std::span<uint32_t> ofNodes)
    : rank(ofRank),
      plan(&ofTrace),
      pending(ofNodes),
      nodesLeft(static_cast<uint32_t>(ofNodes.size()))
{
    for (const uint32_t slots : plan->trace->laneSlots)
    {
        lanes.push_back({slots});
    }
}

TraceWorkers::TraceWorkers(const Stream& stream)
    : m_idOf(stream.topology.ranks, TraceWorker::NONE)
{
    // Workers point to the plans and to what is pending, which must not move.
    m_plans.reserve(stream.traces.size());
    std::size_t nodes = 0;
    for (const Trace& trace : stream.traces)
    {
        nodes += trace.type.size() * trace.ranks.size();
    }
    m_pending.reserve(nodes);
    for (const Trace& trace : stream.traces)
    {
        const TracePlan& plan = m_plans.emplace_back(trace);
        for (const Rank rank : trace.ranks)
        {
            m_idOf[rank] = GetCount();
            const auto own =
                m_pending.insert(m_pending.end(), plan.pending.begin(), plan.pending.end());
            m_workers.emplace_back(rank, plan, std::span(own, m_pending.end()));
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
