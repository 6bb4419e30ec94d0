/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-executor.h"

#include "workload/waiting-report.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

TraceExecutor::TraceExecutor(const Stream& stream,
                             NetworkApi& network,
                             const RunObservers& observers,
                             WorkloadListener& listener)
    : m_network(network),
      m_observers(observers),
      m_listener(listener),
      m_outbox(network, stream.settings.system.admission),
      m_engine(stream, network, m_outbox, observers, *this),
      m_workers(stream),
      m_timers(m_workers, [this](uint32_t id, uint32_t node) { OnNodeDone(id, node); }),
      m_messages(
          m_workers,
          network,
          m_outbox,
          ns3::Time(static_cast<int64_t>(stream.settings.system.injectionLatencyPs)),
          [this](uint32_t id, uint32_t node) { OnNodeDone(id, node); },
          [this] { CheckProgress(); }),
      m_computes(stream,
                 m_workers,
                 network,
                 observers,
                 [this](uint32_t id, uint32_t node) { OnNodeDone(id, node); }),
      m_choose(LastEvent::Turn::CHOOSE, [this] { FillLanes(); }),
      m_workersLeft(m_workers.GetCount())
{
}

void
TraceExecutor::Start()
{
    m_computes.Start();
    for (uint32_t id = 0; id < m_workers.GetCount(); ++id)
    {
        TraceWorker& worker = m_workers.Get(id);
        if (worker.nodesLeft == 0)
        {
            FinishWorker();
            continue;
        }
        for (uint32_t node = 0; node < worker.pending.size(); ++node)
        {
            if (worker.pending[node] == 0)
            {
                m_changes.Push({id, node, ChangeKind::READY});
            }
        }
    }
    if (m_workers.GetCount() == 0)
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
        const Change change = m_changes.Pop();
        switch (change.kind)
        {
        case ChangeKind::READY:
            StartNode(change.worker, change.node);
            break;
        case ChangeKind::DONE:
            FinishNode(change.worker, change.node);
        }
    }
    m_draining = false;
    CheckProgress();
}

void
TraceExecutor::StartNode(uint32_t id, uint32_t node)
{
    TraceWorker& worker = m_workers.Get(id);
    const Trace& trace = *worker.plan->trace;
    if (worker.pending[node] == TraceWorker::DONE)
    { // its job has failed
        return;
    }
    if (const uint32_t lane = worker.GetLane(node); lane != 0)
    {
        const bool takesTime = trace.type[node] != NodeType::COMPUTE || trace.durationPs[node] != 0;
        if (Lane& what = worker.lanes[lane - 1]; takesTime || what.freeSlots == 0)
        {
            what.ready.push(node);
            LetChoose(id, lane - 1);
        }
        else
        {
            --what.freeSlots;
            RunNode(id, node);
        }
    }
    else if (trace.type[node] == NodeType::COMPUTE)
    {
        TryCompute(id);
    }
    else
    {
        RunNode(id, node);
    }
}

/// Let a lane choose its next nodes when all nodes that become ready now are known.
void
TraceExecutor::LetChoose(uint32_t id, uint32_t lane)
{
    m_choosing.push_back({id, lane});
    m_choose.Request();
}

/// Start as many ready nodes of each choosing lane as it has free slots, the lowest index first.
void
TraceExecutor::FillLanes()
{
    for (const LaneRef& where : std::exchange(m_choosing, {}))
    {
        Lane& lane = m_workers.Get(where.worker).lanes[where.lane];
        while (lane.freeSlots != 0 && !lane.ready.empty() && !m_stopped)
        {
            const uint32_t node = lane.ready.top();
            lane.ready.pop();
            if (m_workers.Get(where.worker).pending[node] != TraceWorker::DONE)
            {
                --lane.freeSlots;
                RunNode(where.worker, node);
            }
        }
    }
    Drain();
}

/// Begin a node that need not wait any more.
void
TraceExecutor::RunNode(uint32_t id, uint32_t node)
{
    const TraceWorker& worker = m_workers.Get(id);
    const Trace& trace = *worker.plan->trace;
    BeginNode(id, node);
    if (trace.type[node] == NodeType::COMPUTE)
    {
        if (!m_computes.Begin(id, node))
        {
            m_changes.Push({id, node, ChangeKind::DONE});
        }
    }
    else if (trace.type[node] == NodeType::COLLECTIVE)
    {
        m_computes.BeginCollective(id, trace.collective[node]);
        m_engine.Issue(trace.collective[node], worker.rank, node);
    }
    else if (trace.type[node] == NodeType::TIMER)
    {
        m_timers.Begin(id, node);
    }
    else
    {
        m_messages.Begin(id, node);
    }
}

void
TraceExecutor::TryCompute(uint32_t id)
{
    TraceWorker& worker = m_workers.Get(id);
    worker.SkipDone();
    const uint32_t node = worker.GetStartableCompute();
    if (node == TraceWorker::NONE)
    {
        return;
    }
    worker.isComputing = true;
    RunNode(id, node);
}

void
TraceExecutor::BeginNode(uint32_t id, uint32_t node)
{
    TraceWorker& worker = m_workers.Get(id);
    worker.pending[node] = TraceWorker::BEGUN;
    for (RunObserver* observer : m_observers[RunObserver::NODES])
    {
        observer->OnNodeBegun({Now(), worker.rank, worker.plan->trace, node});
    }
    Release(id, worker.plan->startNext, node);
}

/// Count down what the nodes wait for that depend on a node.
void
TraceExecutor::Release(uint32_t id, const Dependents& waiting, uint32_t node)
{
    if (waiting.begin.empty())
    {
        return;
    }
    TraceWorker& worker = m_workers.Get(id);
    for (uint32_t i = waiting.begin[node]; i < waiting.begin[node + 1]; ++i)
    {
        uint32_t& pending = worker.pending[waiting.nodes[i]];
        if (pending != TraceWorker::DONE && --pending == 0)
        {
            m_changes.Push({id, waiting.nodes[i], ChangeKind::READY});
        }
    }
}

void
TraceExecutor::FinishNode(uint32_t id, uint32_t node)
{
    TraceWorker& worker = m_workers.Get(id);
    const TracePlan& plan = *worker.plan;
    if (worker.pending[node] == TraceWorker::DONE)
    { // its job has failed
        return;
    }
    worker.pending[node] = TraceWorker::DONE;
    for (RunObserver* observer : m_observers[RunObserver::NODES])
    {
        observer->OnNodeEnded({Now(), worker.rank, plan.trace, node});
    }
    Release(id, plan.next, node);
    EndNode(id, node);
}

/// Give back what a node has had while it ran.
void
TraceExecutor::EndNode(uint32_t id, uint32_t node)
{
    TraceWorker& worker = m_workers.Get(id);
    const TracePlan& plan = *worker.plan;
    if (plan.trace->type[node] == NodeType::COLLECTIVE)
    {
        m_computes.EndCollective(id, plan.trace->collective[node]);
    }
    if (const uint32_t lane = worker.GetLane(node); lane != 0)
    {
        Lane& what = worker.lanes[lane - 1];
        ++what.freeSlots;
        if (!what.ready.empty())
        {
            LetChoose(id, lane - 1);
        }
    }
    else if (plan.trace->type[node] == NodeType::COMPUTE)
    {
        worker.isComputing = false;
        ++worker.nextCompute;
        TryCompute(id);
    }
    if (--worker.nodesLeft == 0)
    {
        FinishWorker();
    }
}

void
TraceExecutor::Drop(std::span<const uint32_t> jobs)
{
    // Those that run are last, so that they let no other one of the jobs begin.
    const std::vector<NodeRef> waiting = DropNodes(jobs, false);
    const std::vector<NodeRef> running = DropNodes(jobs, true);
    for (const auto& [worker, node] : waiting)
    {
        Release(worker, m_workers.Get(worker).plan->startNext, node);
        Release(worker, m_workers.Get(worker).plan->next, node);
    }
    for (const auto& [worker, node] : running)
    {
        Release(worker, m_workers.Get(worker).plan->next, node);
    }
    for (uint32_t id = 0; id < m_workers.GetCount(); ++id)
    {
        TryCompute(id);
    }
    Drain();
}

/// Let the nodes of jobs be done that have begun, or those that have not, and return them.
std::vector<TraceExecutor::NodeRef>
TraceExecutor::DropNodes(std::span<const uint32_t> jobs, bool areRunning)
{
    std::vector<NodeRef> dropped;
    for (uint32_t id = 0; id < m_workers.GetCount(); ++id)
    {
        const TraceWorker& worker = m_workers.Get(id);
        const Trace& trace = *worker.plan->trace;
        for (uint32_t node = 0; node < trace.job.size(); ++node)
        {
            const uint32_t pending = worker.pending[node];
            if (pending != TraceWorker::DONE && (pending == TraceWorker::BEGUN) == areRunning &&
                std::ranges::find(jobs, trace.job[node]) != jobs.end())
            {
                DropNode(id, node, areRunning);
                dropped.push_back({id, node});
            }
        }
    }
    return dropped;
}

void
TraceExecutor::DropNode(uint32_t id, uint32_t node, bool isRunning)
{
    TraceWorker& worker = m_workers.Get(id);
    const Trace& trace = *worker.plan->trace;
    worker.pending[node] = TraceWorker::DONE;
    for (RunObserver* observer : m_observers[RunObserver::NODES])
    {
        if (!isRunning)
        {
            observer->OnNodeBegun({Now(), worker.rank, &trace, node});
        }
        observer->OnNodeEnded({Now(), worker.rank, &trace, node});
    }
    if (isRunning)
    {
        EndNode(id, node);
        return;
    }
    if (trace.type[node] == NodeType::COLLECTIVE && m_engine.IsRunning(trace.collective[node]))
    { // members that have issued it have slots
        m_engine.Issue(trace.collective[node], worker.rank, node);
    }
    if (--worker.nodesLeft == 0)
    {
        FinishWorker();
    }
}

void
TraceExecutor::FinishWorker()
{
    if (--m_workersLeft == 0)
    {
        m_stopped = true;
        m_listener.OnWorkloadDone();
    }
}

void
TraceExecutor::OnNodeDone(uint32_t id, uint32_t node)
{
    m_changes.Push({id, node, ChangeKind::DONE});
    Drain();
}

void
TraceExecutor::OnCollectiveDone(uint32_t collective, Rank rank)
{
    const uint32_t id = m_workers.GetId(rank);
    m_changes.Push({id, m_workers.Get(id).plan->FindNode(collective), ChangeKind::DONE});
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

bool
TraceExecutor::IsStuck() const
{
    return m_computes.GetRunning() == 0 && m_timers.GetRunning() == 0 &&
           m_messages.GetRunning() == 0 && m_choosing.empty() && m_engine.GetActive() == 0 &&
           !m_stopped;
}

void
TraceExecutor::CheckProgress()
{
    if (!m_draining && !m_checking && IsStuck())
    { // the message of a receive has arrived, but the event that completes the receive has not run
      // yet
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
TraceExecutor::DescribeWaiting(uint32_t details) const
{
    return cosim::DescribeWaiting(m_workers.GetAll(), m_engine, details);
}

uint64_t
TraceExecutor::Now() const
{
    return static_cast<uint64_t>(m_network.SimGetTime().GetTimeStep());
}

} // namespace cosim
