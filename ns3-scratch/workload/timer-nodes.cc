/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/timer-nodes.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstddef>
#include <utility>

namespace cosim
{

TimerNodes::TimerNodes(const TraceWorkers& workers, Done done)
    : m_workers(workers),
      m_done(std::move(done))
{
    for (const TraceWorker& worker : workers.GetAll())
    {
        const Trace& trace = *worker.plan->trace;
        for (std::size_t node = 0; node < trace.type.size(); ++node)
        {
            if (trace.type[node] == NodeType::TIMER && trace.tag[node] != 0)
            {
                ++m_groups[trace.tag[node]].missing;
            }
        }
    }
}

void
TimerNodes::Begin(uint32_t worker, uint32_t node)
{
    const auto found = m_groups.find(m_workers.Get(worker).plan->trace->tag[node]);
    if (found == m_groups.end())
    {
        Run({worker, node});
        return;
    }
    Group& group = found->second;
    group.waiting.push_back({worker, node});
    if (--group.missing == 0)
    {
        for (const Place place : group.waiting)
        {
            Run(place);
        }
    }
}

void
TimerNodes::Run(Place place)
{
    const uint64_t duration = m_workers.Get(place.worker).plan->trace->durationPs[place.node];
    ++m_running;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(duration)),
                             &TimerNodes::OnTime,
                             this,
                             place.worker,
                             place.node);
}

void
TimerNodes::OnTime(uint32_t worker, uint32_t node)
{
    --m_running;
    m_done(worker, node);
}

} // namespace cosim
