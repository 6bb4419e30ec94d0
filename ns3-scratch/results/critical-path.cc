/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/critical-path.h"

#include <algorithm>
#include <optional>

namespace cosim
{

namespace
{

/// Marks the owners of messages that belong to no collective, but to a pair of ranks.
constexpr LinkLoads::Owner PAIRS = LinkLoads::Owner{1} << 63;

/// @return the one that ended later
const CauseRef&
Later(const CauseRef& a, const CauseRef& b)
{
    return b.GetEnd() > a.GetEnd() ? b : a;
}

} // namespace

CauseRef::CauseRef(Cause* cause)
    : m_cause(cause)
{
    if (m_cause != nullptr)
    {
        ++m_cause->references;
    }
}

CauseRef::CauseRef(const CauseRef& other)
    : CauseRef(other.m_cause)
{
}

CauseRef::~CauseRef()
{
    // A loop, as a chain is too long for a recursion.
    while (m_cause != nullptr && --m_cause->references == 0)
    {
        Cause* parent = std::exchange(m_cause->parent.m_cause, nullptr);
        delete m_cause;
        m_cause = parent;
    }
}

uint64_t
CauseRef::GetEnd() const
{
    return m_cause == nullptr ? 0 : m_cause->endPs;
}

void
CauseRef::Cut() const
{
    if (m_cause != nullptr)
    {
        m_cause->parent = CauseRef();
    }
}

PathRecord::PathRecord(const Stream& stream)
{
    for (const Trace& trace : stream.traces)
    {
        m_isShared = m_isShared || !trace.jobs.empty();
    }
    for (const Trace& trace : stream.traces)
    {
        for (const uint32_t iteration : trace.iteration)
        {
            const std::size_t index = m_isShared ? 0 : iteration;
            m_iterations.resize(std::max(m_iterations.size(), index + 1));
            m_iterations[index].nodesLeft += trace.ranks.size();
        }
    }
}

void
PathRecord::OnNodeEnded(const NodeEvent& event, const CauseRef& end)
{
    Iteration& iteration = m_iterations[m_isShared ? 0 : event.trace->iteration[event.node]];
    if (end.GetEnd() >= iteration.end.GetEnd())
    {
        iteration.end = end;
    }
    --iteration.nodesLeft;
    while (m_paths.size() < m_iterations.size() && m_iterations[m_paths.size()].nodesLeft == 0)
    {
        Collect(m_iterations[m_paths.size()]);
    }
}

/// Walk from the end of an iteration back to the end of the one before it.
void
PathRecord::Collect(Iteration& iteration)
{
    IterationPath path{m_paths.empty() ? 0 : m_paths.back().endPs, 0, {}, {}};
    path.endPs = std::max(path.startPs, iteration.end.GetEnd());
    CauseRef at = std::move(iteration.end);
    for (; at.GetEnd() > path.startPs; at = CauseRef(at->parent))
    {
        const uint64_t start = std::max(at->parent.GetEnd(), path.startPs);
        const auto kind = static_cast<std::size_t>(at->kind);
        path.times[kind] += at->endPs - start;
        if (path.steps.empty() || path.steps.back().label != at->label)
        {
            path.steps.push_back({at->label, start, at->endPs, at->rank, at->rank});
        }
        PathStep& step = path.steps.back();
        step.startPs = start;
        step.firstRank = at->rank;
        step.times[kind] += at->endPs - start;
    }
    at.Cut(); // the next iterations need only its end
    if (path.steps.size() > MAX_STEPS)
    {
        path.othersLeftOut = path.steps.size() - MAX_STEPS;
        std::nth_element(path.steps.begin(),
                         path.steps.begin() + MAX_STEPS,
                         path.steps.end(),
                         [](const PathStep& a, const PathStep& b) {
                             return a.endPs - a.startPs > b.endPs - b.startPs;
                         });
        path.steps.resize(MAX_STEPS);
    }
    std::sort(path.steps.begin(), path.steps.end(), [](const PathStep& a, const PathStep& b) {
        return a.startPs < b.startPs;
    });
    m_paths.push_back(std::move(path));
}

CriticalPath::CriticalPath(const Stream& stream, const LiveLinks& links)
    : m_stream(stream),
      m_injectionPs(stream.settings.system.injectionLatencyPs),
      m_parts(stream.topology, stream.settings, links),
      m_record(stream),
      m_workers(stream.topology.ranks)
{
}

CriticalPath::Worker&
CriticalPath::GetWorker(const NodeEvent& event)
{
    Worker& worker = m_workers[event.rank];
    if (worker.nodes.empty())
    {
        const Trace& trace = *event.trace;
        worker.nodes.resize(trace.type.size());
        worker.waiting.resize(trace.type.size());
        for (const uint32_t dependency : trace.dep)
        {
            ++worker.waiting[dependency];
        }
    }
    return worker;
}

/// @return a cause that lasts from the end of its parent; the parent if that takes no time
CauseRef
CriticalPath::Extend(CauseRef parent, uint64_t endPs, PathKind kind, CauseLabel label, Rank rank)
{
    if (endPs <= parent.GetEnd())
    {
        return parent;
    }
    return CauseRef(new Cause{std::move(parent), endPs, label, rank, kind});
}

/// @return the end of what a node waited for last
CauseRef
CriticalPath::GetBeginning(Worker& worker, const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    CauseRef last;
    for (uint32_t i = trace.depBegin[event.node]; i < trace.depBegin[event.node + 1]; ++i)
    {
        const uint32_t dependency = trace.dep[i];
        last = Later(last, worker.nodes[dependency]);
        if (--worker.waiting[dependency] == 0)
        {
            worker.nodes[dependency] = CauseRef();
        }
    }
    return last;
}

void
CriticalPath::OnNodeBegun(const NodeEvent& event)
{
    Worker& worker = GetWorker(event);
    const Trace& trace = *event.trace;
    CauseRef begun = GetBeginning(worker, event);
    if (trace.type[event.node] == NodeType::COMPUTE)
    {
        begun = Later(begun, worker.computed);
    }
    else if (trace.type[event.node] == NodeType::TIMER && trace.tag[event.node] != 0)
    { // timers with the same tag begin together, so the last one counts
        m_timers[trace.tag[event.node]] = begun;
    }
    worker.nodes[event.node] = begun;
    m_now = std::move(begun);
}

CauseRef
CriticalPath::GetEnd(const NodeEvent& event, const CauseRef& begun)
{
    const Trace& trace = *event.trace;
    const uint32_t node = event.node;
    const CauseLabel label{&trace, node};
    switch (trace.type[node])
    {
    case NodeType::COLLECTIVE: {
        auto ended = m_ended.Extract({trace.collective[node], event.rank, NO_CHUNK});
        return ended ? std::move(*ended) : begun;
    }
    case NodeType::COMPUTE:
        return Extend(begun, event.timePs, PathKind::COMPUTE, label, event.rank);
    case NodeType::TIMER: {
        const CauseRef& start = trace.tag[node] == 0 ? begun : m_timers[trace.tag[node]];
        return Extend(start, event.timePs, PathKind::TIMER, label, event.rank);
    }
    case NodeType::SEND: {
        CauseRef sent = Extend(begun, event.timePs, PathKind::INJECTION, label, event.rank);
        const Rank dst = trace.GetPeer(node, event.rank);
        const uint32_t route = trace.route.empty() ? 0 : trace.route[node];
        Send({event.rank, dst, trace.tag[node]},
             {event.rank,
              dst,
              route,
              trace.bytes[node],
              event.timePs,
              PAIRS | uint64_t{event.rank} << 31 | dst,
              0,
              {}},
             sent);
        return sent;
    }
    case NodeType::RECV: {
        const uint64_t arrivedPs = event.timePs - std::min(event.timePs, m_injectionPs);
        CauseRef arrived = Receive({trace.GetPeer(node, event.rank), event.rank, trace.tag[node]},
                                   arrivedPs,
                                   label);
        // The message was there before if the node began when it could take it.
        return Extend(begun.GetEnd() >= arrivedPs ? begun : std::move(arrived),
                      event.timePs,
                      PathKind::INJECTION,
                      label,
                      event.rank);
    }
    }
    return begun;
}

void
CriticalPath::OnNodeEnded(const NodeEvent& event)
{
    Worker& worker = GetWorker(event);
    CauseRef end = GetEnd(event, worker.nodes[event.node]);
    if (event.trace->type[event.node] == NodeType::COMPUTE)
    {
        worker.computed = end;
    }
    m_record.OnNodeEnded(event, end);
    worker.nodes[event.node] = worker.waiting[event.node] == 0 ? CauseRef() : end;
    m_now = std::move(end);
}

void
CriticalPath::OnCollectiveBegun(const CollectiveEvent& event)
{
    m_collectives[{event.collective->id, event.rank, NO_CHUNK}] = {m_now, m_now};
}

void
CriticalPath::OnCollectiveEnded(const CollectiveEvent& event)
{
    const Place at{event.collective->id, event.rank, NO_CHUNK};
    auto running = m_collectives.Extract(at);
    m_ended[at] = std::move(running->last);
    for (uint32_t chunk = 0; chunk < event.collective->chunks; ++chunk)
    {
        m_chunks.Extract({at.collective, at.rank, chunk});
    }
}

void
CriticalPath::OnChunkEnded(const ChunkEvent& event)
{
    m_chunks[{event.collective->id, event.rank, event.chunk}] = m_now;
    CauseRef& last = m_collectives[{event.collective->id, event.rank, NO_CHUNK}].last;
    last = Later(last, m_now);
}

void
CriticalPath::OnChunkAdmitted(const AdmissionEvent& event)
{
    CauseRef reached;
    for (const Rank rank : event.ranks)
    {
        const uint32_t collective = event.collective->id;
        if (const auto chunk = m_chunks.Extract({collective, rank, event.chunk}))
        {
            reached = Later(reached, *chunk);
        }
        else
        { // its first phase: the rank has reached it when it issued the collective
            reached = Later(reached, m_collectives[{collective, rank, NO_CHUNK}].issued);
        }
    }
    m_now = Extend(std::move(reached),
                   event.timePs,
                   PathKind::SLOT,
                   {nullptr, event.collective->id},
                   event.ranks.front());
}

void
CriticalPath::OnStepReady(const StepEvent& event)
{
    m_steps[{event.step}] = m_now;
}

void
CriticalPath::OnStepDone(const StepEvent& event)
{
    auto ready = m_steps.Extract({event.step});
    CauseRef cause = ready ? std::move(*ready) : m_now;
    const CauseLabel label{nullptr, event.collective->id};
    if (event.op != StepOp::REDUCE && event.op != StepOp::COPY)
    {
        const uint64_t injected = std::min(cause.GetEnd() + m_injectionPs, event.timePs);
        cause = Extend(std::move(cause), injected, PathKind::INJECTION, label, event.rank);
    }
    m_now = Extend(std::move(cause), event.timePs, PathKind::REDUCTION, label, event.rank);
}

void
CriticalPath::OnStepSent(const StepMessageEvent& event)
{
    const CauseRef* ready = m_steps.Find({event.step});
    Send({event.src, event.dst, event.tag},
         {event.src,
          event.dst,
          event.route,
          event.bytes,
          event.timePs,
          GetOwner(*event.collective, m_stream.topology.IsRank(event.src) ? event.src : event.dst),
          0,
          {}},
         Extend(ready == nullptr ? m_now : *ready,
                event.timePs,
                PathKind::INJECTION,
                {nullptr, event.collective->id},
                event.src));
}

void
CriticalPath::OnStepReceived(const StepMessageEvent& event)
{
    m_now =
        Receive({event.src, event.dst, event.tag}, event.timePs, {nullptr, event.collective->id});
}

void
CriticalPath::Send(const MessageKey& key, SentMessage message, CauseRef cause)
{
    m_parts.Mark(message);
    m_messages.Push(key, {std::move(message), std::move(cause)});
}

/// @return the arrival of the first message with a key
CauseRef
CriticalPath::Receive(const MessageKey& key, uint64_t nowPs, CauseLabel label)
{
    std::optional<Pending> pending = m_messages.Pop(key);
    if (!pending)
    {
        return m_now;
    }
    const SentMessage& message = pending->message;
    CauseRef cause = std::move(pending->cause);
    for (const auto& [kind, timePs] : m_parts.Divide(message, std::max(nowPs, message.sentPs)))
    {
        const uint64_t end = cause.GetEnd() + timePs;
        cause = Extend(std::move(cause), end, kind, label, message.dst);
    }
    return cause;
}

/// @return a number for the group of a rank in a collective
LinkLoads::Owner
CriticalPath::GetOwner(const Collective& collective, Rank rank)
{
    const LinkLoads::Owner owner = uint64_t{collective.id} << 31;
    if (collective.groups <= 1)
    {
        return owner;
    }
    std::vector<uint32_t>& groups = m_groups[collective.id];
    if (groups.empty())
    {
        groups.resize(m_stream.topology.GetEndpoints());
        const std::size_t size = collective.ranks.size() / collective.groups;
        for (std::size_t i = 0; i < collective.ranks.size(); ++i)
        {
            groups[collective.ranks[i]] = static_cast<uint32_t>(i / size);
        }
    }
    return owner | groups[rank];
}

} // namespace cosim
