/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/causal-simulator.h"
#include "workload/trace-executor.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace cosim
{

/// Notify the listener if the workload rests, before a COMPUTE node ends.
void
TraceExecutor::NoteRest(uint32_t slot)
{
    const Running& ending = m_running[slot];
    const Trace& trace = *m_workers.Get(ending.worker).plan->trace;
    const uint32_t iteration = trace.iteration[ending.node];
    if (int64_t{iteration} > m_restIteration && IsAtRest())
    {
        const int64_t before = m_restIteration;
        m_restIteration = iteration; // Skip moves it
        if (!m_restListener->OnRest(iteration))
        {
            m_restIteration = before;
        }
    }
}

bool
TraceExecutor::IsAtRest() const
{
    if (m_draining || m_checking || m_stopped || m_timers.GetRunning() != 0 ||
        m_messages.GetRunning() != 0 || !m_changes.IsEmpty() || !m_choosing.empty() ||
        m_computing < m_workersLeft || !m_engine.IsAtRest())
    {
        return false;
    }
    std::vector<bool> computes(m_workers.GetCount());
    for (const Running& running : m_running.GetSlots())
    {
        if (running.isActive)
        {
            computes[running.worker] = true;
        }
    }
    const std::vector<TraceWorker>& workers = m_workers.GetAll();
    for (uint32_t id = 0; id < workers.size(); ++id)
    {
        if (workers[id].state.empty())
        {
            continue;
        }
        if (!computes[id] || workers[id].Waits())
        {
            return false;
        }
    }
    return true;
}

void
TraceExecutor::AddState(StateDigest& digest,
                        const IterationPattern& pattern,
                        uint32_t iteration) const
{
    const uint32_t regular = iteration - pattern.GetFirst();
    for (const TraceWorker& worker : m_workers.GetAll())
    {
        worker.AddState(digest, pattern.GetPlaces(*worker.plan->trace), regular);
    }
    std::vector<Running> running;
    for (const Running& one : m_running.GetSlots())
    {
        if (one.isActive)
        {
            running.push_back(one);
        }
    }
    // in the order in which those that end at the same time end
    std::sort(running.begin(), running.end(), [](const Running& a, const Running& b) {
        return std::tuple(a.beganPs, a.causePs, a.number) <
               std::tuple(b.beganPs, b.causePs, b.number);
    });
    const auto now = static_cast<uint64_t>(CausalSimulator::Get().GetNowPs());
    const int64_t number = CausalSimulator::Get().TakeNumber();
    for (const Running& one : running)
    {
        const TraceWorker& worker = m_workers.GetAll()[one.worker];
        const IterationPattern::Places& places = pattern.GetPlaces(*worker.plan->trace);
        digest.Add(one.worker);
        digest.Add(one.node - places.nodesBegin - regular * places.nodes);
        digest.Add(now - one.beganPs);
        digest.Add(now - static_cast<uint64_t>(one.causePs));
        digest.Add(one.endsPs - now);
        digest.Add(static_cast<uint64_t>(number - one.number));
    }
}

uint32_t
TraceExecutor::GetFirstIteration() const
{
    uint32_t first = std::numeric_limits<uint32_t>::max();
    for (const TraceWorker& worker : m_workers.GetAll())
    {
        if (worker.GetFirstOpen() < worker.state.size())
        {
            first = std::min(first, worker.plan->trace->iteration[worker.GetFirstOpen()]);
        }
    }
    return first;
}

uint32_t
TraceExecutor::GetLastIteration() const
{
    uint32_t last = 0;
    for (const TraceWorker& worker : m_workers.GetAll())
    {
        if (!worker.state.empty())
        {
            last = std::max(last, worker.plan->trace->iteration[worker.highest]);
        }
    }
    return last;
}

void
TraceExecutor::Skip(const IterationPattern& pattern, uint32_t iterations)
{
    for (uint32_t id = 0; id < m_workers.GetCount(); ++id)
    {
        TraceWorker& worker = m_workers.Get(id);
        if (!worker.state.empty())
        {
            worker.Skip(pattern.GetPlaces(*worker.plan->trace), iterations);
        }
    }
    for (uint32_t slot = 0; slot < m_running.GetSlots().size(); ++slot)
    {
        Running& running = m_running[slot];
        const Trace& trace = *m_workers.Get(running.worker).plan->trace;
        running.node += running.isActive ? iterations * pattern.GetPlaces(trace).nodes : 0;
    }
    m_restIteration += iterations;
}

} // namespace cosim
