/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "trace-executor.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace cosim
{

namespace
{

/// @return rising numbers as text, "0-3, 7"
std::string
Ranges(const std::vector<Rank>& ranks)
{
    std::ostringstream text;
    for (std::size_t i = 0; i < ranks.size();)
    {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
        {
            ++last;
        }
        text << (i == 0 ? "" : ", ") << ranks[i];
        if (last != i)
        {
            text << "-" << ranks[last];
        }
        i = last + 1;
    }
    return text.str();
}

} // namespace

TraceExecutor::TraceExecutor(const Stream& stream, NetworkApi& network, WorkloadListener& listener)
    : m_network(network),
      m_listener(listener),
      m_injectionLatency(static_cast<int64_t>(stream.settings.system.injectionLatencyPs)),
      m_engine(stream, network, *this),
      m_workerOf(stream.topology.ranks, NONE),
      m_timing(CountIterations(stream), CountLayers(stream), CountTracedRanks(stream))
{
    m_plans.reserve(stream.traces.size()); // workers point into it
    for (const Trace& trace : stream.traces)
    {
        const TracePlan& plan = m_plans.emplace_back(trace);
        for (const Rank rank : trace.ranks)
        {
            m_workerOf[rank] = static_cast<uint32_t>(m_workers.size());
            Worker& worker = m_workers.emplace_back();
            worker.rank = rank;
            worker.plan = &plan;
            worker.pending = plan.pending;
            worker.start.assign(trace.type.size(), UNKNOWN);
            worker.end.assign(trace.type.size(), UNKNOWN);
            worker.nodesLeft = static_cast<uint32_t>(trace.type.size());
            for (const uint32_t iteration : trace.iteration)
            {
                m_timing.ExpectNode(iteration);
            }
        }
        for (std::size_t i = 0; i < trace.type.size(); ++i)
        {
            if (trace.type[i] == NodeType::SEND)
            {
                m_messageBytes += trace.bytes[i] * trace.ranks.size();
            }
        }
    }
    m_workersLeft = static_cast<uint32_t>(m_workers.size());
}

void
TraceExecutor::Start()
{
    for (uint32_t id = 0; id < m_workers.size(); ++id)
    {
        Worker& worker = m_workers[id];
        if (worker.nodesLeft == 0)
        {
            FinishWorker(worker);
            continue;
        }
        for (uint32_t node = 0; node < worker.pending.size(); ++node)
        {
            if (worker.pending[node] == 0)
            {
                m_changes.Push({id, node, false});
            }
        }
    }
    if (m_workers.empty())
    {
        m_stopped = true;
        m_listener.OnWorkloadDone();
    }
    Drain();
}

void
TraceExecutor::Drain()
{
    if (m_draining)
    {
        return;
    }
    m_draining = true;
    while (!m_changes.IsEmpty() && !m_stopped)
    {
        const Change change = m_changes.Front();
        m_changes.Pop();
        if (change.isDone)
        {
            FinishNode(change.worker, change.node);
        }
        else
        {
            StartNode(change.worker, change.node);
        }
    }
    m_draining = false;
    CheckProgress();
}

void
TraceExecutor::StartNode(uint32_t id, uint32_t node)
{
    Worker& worker = m_workers[id];
    const Trace& trace = *worker.plan->trace;
    if (trace.type[node] == NodeType::COMPUTE)
    {
        TryCompute(id);
        return;
    }
    worker.start[node] = Now();
    if (trace.type[node] == NodeType::COLLECTIVE)
    {
        m_engine.Issue(trace.collective[node], worker.rank);
    }
    else
    {
        StartMessage(id, node);
    }
}

void
TraceExecutor::TryCompute(uint32_t id)
{
    Worker& worker = m_workers[id];
    const TracePlan& plan = *worker.plan;
    if (worker.isComputing || worker.nextCompute == plan.computes.size())
    {
        return;
    }
    const uint32_t node = plan.computes[worker.nextCompute];
    if (worker.pending[node] != 0)
    {
        return;
    }
    const uint64_t now = Now();
    Expose(worker, worker.idleSince, now, LastDependency(worker, node));
    worker.isComputing = true;
    worker.start[node] = now;
    const uint64_t duration = plan.trace->durationPs[node];
    if (duration == 0)
    {
        m_changes.Push({id, node, true});
        return;
    }
    ++m_computing;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(duration)),
                             &TraceExecutor::OnComputed,
                             this,
                             id,
                             node);
}

void
TraceExecutor::OnComputed(uint32_t id, uint32_t node)
{
    --m_computing;
    m_changes.Push({id, node, true});
    Drain();
    m_listener.OnWorkloadActivity();
}

void
TraceExecutor::FinishNode(uint32_t id, uint32_t node)
{
    Worker& worker = m_workers[id];
    const TracePlan& plan = *worker.plan;
    const uint64_t now = Now();
    worker.end[node] = now;
    m_timing.FinishNode(plan.trace->iteration[node], now);
    for (uint32_t i = plan.nextBegin[node]; i < plan.nextBegin[node + 1]; ++i)
    {
        if (--worker.pending[plan.next[i]] == 0)
        {
            m_changes.Push({id, plan.next[i], false});
        }
    }
    if (plan.trace->type[node] == NodeType::COMPUTE)
    {
        m_timing.AddCompute(plan.trace->iteration[node],
                            plan.trace->layer[node],
                            now - worker.start[node]);
        worker.isComputing = false;
        worker.idleSince = now;
        ++worker.nextCompute;
        TryCompute(id);
    }
    if (--worker.nodesLeft == 0)
    {
        FinishWorker(worker);
    }
}

void
TraceExecutor::FinishWorker(Worker& worker)
{
    const uint64_t now = Now();
    uint32_t last = NONE;
    for (uint32_t node = 0; node < worker.end.size(); ++node)
    {
        if (worker.plan->trace->type[node] != NodeType::COMPUTE &&
            (last == NONE || worker.end[node] >= worker.end[last]))
        {
            last = node;
        }
    }
    Expose(worker, worker.idleSince, now, last);
    if (--m_workersLeft == 0)
    {
        m_stopped = true;
        m_listener.OnWorkloadDone();
    }
}

void
TraceExecutor::StartMessage(uint32_t id, uint32_t node)
{
    const Worker& worker = m_workers[id];
    const Trace& trace = *worker.plan->trace;
    if (trace.type[node] == NodeType::RECV)
    {
        m_network.SimRecv(trace.peer[node],
                          worker.rank,
                          trace.bytes[node],
                          trace.tag[node],
                          [this, id, node] {
                              ++m_traffic;
                              m_network.SimSchedule(m_injectionLatency, [this, id, node] {
                                  --m_traffic;
                                  OnNodeDone(id, node);
                              });
                          });
        return;
    }
    ++m_traffic;
    if (m_injectionLatency.IsZero())
    {
        PostMessage(id, node);
    }
    else
    {
        m_network.SimSchedule(m_injectionLatency, [this, id, node] { PostMessage(id, node); });
    }
}

void
TraceExecutor::PostMessage(uint32_t id, uint32_t node)
{
    const Worker& worker = m_workers[id];
    const Trace& trace = *worker.plan->trace;
    m_network.SimSend(worker.rank, trace.peer[node], trace.bytes[node], trace.tag[node], [this] {
        --m_traffic;
        CheckProgress();
    });
    OnNodeDone(id, node);
}

void
TraceExecutor::OnNodeDone(uint32_t id, uint32_t node)
{
    m_changes.Push({id, node, true});
    Drain();
    if (!m_draining)
    {
        m_listener.OnWorkloadActivity();
    }
}

void
TraceExecutor::OnCollectiveDone(uint32_t collective, Rank rank)
{
    const uint32_t id = m_workerOf[rank];
    m_changes.Push({id, m_workers[id].plan->FindNode(collective), true});
    Drain();
}

void
TraceExecutor::OnEngineSettled()
{
    CheckProgress();
}

void
TraceExecutor::OnEngineError(const std::string& error)
{
    m_stopped = true;
    m_listener.OnWorkloadError(error);
}

void
TraceExecutor::Expose(const Worker& worker, uint64_t from, uint64_t to, uint32_t last)
{
    const Trace& trace = *worker.plan->trace;
    while (last != NONE && from < to && trace.type[last] != NodeType::COMPUTE)
    {
        const uint64_t end = std::min(to, worker.end[last]);
        const uint64_t start = std::max(from, worker.start[last]);
        if (end > start && trace.type[last] != NodeType::SEND)
        {
            m_timing.AddExposed(trace.iteration[last], trace.layer[last], end - start);
        }
        to = std::min(start, end);
        last = LastDependency(worker, last);
    }
}

uint32_t
TraceExecutor::LastDependency(const Worker& worker, uint32_t node)
{
    const Trace& trace = *worker.plan->trace;
    uint32_t last = NONE;
    for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
    {
        const uint32_t dep = trace.dep[d];
        if (last == NONE || worker.end[dep] >= worker.end[last])
        {
            last = dep;
        }
    }
    return last;
}

bool
TraceExecutor::IsStuck() const
{
    return m_computing == 0 && m_traffic == 0 && m_engine.GetActive() == 0 && !m_stopped;
}

void
TraceExecutor::CheckProgress()
{
    if (!m_draining && !m_checking && IsStuck())
    { // a receive whose message has arrived is an event of this moment that is still to come
        m_checking = true;
        ns3::Simulator::ScheduleNow(&TraceExecutor::OnProgressCheck, this);
    }
}

void
TraceExecutor::OnProgressCheck()
{
    m_checking = false;
    if (IsStuck())
    {
        m_stopped = true;
        m_listener.OnWorkloadDeadlock(DescribeWaiting());
    }
}

std::string
TraceExecutor::DescribeWaiting() const
{
    constexpr uint32_t maxDetails = 4;
    std::vector<Rank> ranks;
    std::string details;
    for (const Worker& worker : m_workers)
    {
        if (worker.nodesLeft != 0)
        {
            if (ranks.size() < maxDetails)
            {
                details += "; " + Describe(worker);
            }
            ranks.push_back(worker.rank);
        }
    }
    std::sort(ranks.begin(), ranks.end());
    return std::to_string(ranks.size()) + " of " + std::to_string(m_workers.size()) +
           " ranks wait (" + Ranges(ranks) + ")" + details;
}

std::string
TraceExecutor::Describe(const Worker& worker) const
{
    const Trace& trace = *worker.plan->trace;
    std::ostringstream text;
    text << "rank " << worker.rank;
    const auto name = [&trace](uint32_t node) {
        return "node " + std::to_string(node) + " (" + trace.names[node] + ")";
    };
    for (uint32_t node = 0; node < worker.end.size(); ++node)
    {
        if (worker.start[node] != UNKNOWN && worker.end[node] == UNKNOWN)
        {
            text << " waits for " << name(node);
            if (trace.type[node] == NodeType::COLLECTIVE)
            {
                text << ", " << m_engine.Describe(trace.collective[node], worker.rank);
            }
            else if (trace.type[node] == NodeType::RECV)
            {
                text << ", " << trace.bytes[node] << " bytes from rank " << trace.peer[node]
                     << " with tag " << trace.tag[node];
            }
            return text.str();
        }
    }
    for (uint32_t node = 0; node < worker.end.size(); ++node)
    {
        if (worker.end[node] == UNKNOWN)
        {
            text << " cannot start " << name(node);
            for (uint32_t d = trace.depBegin[node]; d < trace.depBegin[node + 1]; ++d)
            {
                if (worker.end[trace.dep[d]] == UNKNOWN)
                {
                    text << " before " << name(trace.dep[d]);
                    break;
                }
            }
            break;
        }
    }
    return text.str();
}

uint64_t
TraceExecutor::Now() const
{
    return static_cast<uint64_t>(m_network.SimGetTime().GetTimeStep());
}

uint64_t
TraceExecutor::GetTotalBytes() const
{
    return m_engine.GetTotalBytes() + m_messageBytes;
}

const TimingRecord&
TraceExecutor::GetTiming() const
{
    return m_timing;
}

const CollectiveEngine&
TraceExecutor::GetEngine() const
{
    return m_engine;
}

} // namespace cosim
