/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/collective-engine.h"

#include "system/local-admission.h"
#include "system/negotiated-admission.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>
#include <string>

namespace cosim
{

namespace
{

/// @return the simulated time [ps]
uint64_t
NowPs(const NetworkApi& network)
{
    return static_cast<uint64_t>(network.SimGetTime().GetTimeStep());
}

/// @return whether one event may stand for several messages. With local admission, the first
/// message of a step changes what its receiver starts, so each has an event.
bool
UsesBundles(const SystemSettings& settings)
{
    return !settings.messageByMessage && settings.admission != AdmissionKind::LOCAL;
}

} // namespace

CollectiveEngine::CollectiveEngine(const Stream& stream,
                                   NetworkApi& network,
                                   Outbox& outbox,
                                   const RunObservers& observers,
                                   CollectiveListener& listener)
    : m_network(network),
      m_outbox(outbox),
      m_bundles(UsesBundles(stream.settings.system) && observers[RunObserver::STEPS].empty()
                    ? network.GetBundleNetwork()
                    : nullptr),
      m_observers(observers),
      m_listener(listener),
      m_topology(stream.topology),
      m_plans(stream),
      m_progress(stream.collectives.size(), m_plans),
      m_reductions(stream.topology.ranks,
                   stream.settings.system,
                   [this](const Ready& step) {
                       Complete(step);
                       Drain();
                   }),
      m_injectionLatency(static_cast<int64_t>(stream.settings.system.injectionLatencyPs)),
      m_injection(m_injectionLatency,
                  *this,
                  &CollectiveEngine::OnInjected,
                  &CollectiveEngine::Drain)
{
    if (stream.settings.system.admission == AdmissionKind::LOCAL)
    {
        m_admission = std::make_unique<LocalAdmission>(stream, m_plans, *this);
    }
    else
    {
        m_admission = std::make_unique<NegotiatedAdmission>(stream, m_plans, *this);
    }
    m_network.SetArrivalHandler(this);
    if (m_bundles != nullptr)
    {
        m_bundles->SetBundleHandler(this);
    }
}

CollectiveEngine::~CollectiveEngine()
{
    m_network.SetArrivalHandler(nullptr);
    if (m_bundles != nullptr)
    {
        m_bundles->SetBundleHandler(nullptr);
    }
}

void
CollectiveEngine::Issue(uint32_t collective, Rank rank, uint32_t node)
{
    const Collective& what = m_plans.GetCollective(collective);
    for (RunObserver* observer : m_observers[RunObserver::COLLECTIVES])
    {
        observer->OnCollectiveBegun({NowPs(m_network), rank, &what});
    }
    const uint32_t member = m_plans.FindMember(collective, rank);
    const uint64_t launchPs = m_plans.GetProgram(collective).GetProtocol().launchPs;
    if (launchPs == 0)
    {
        Launch(collective, member, node);
        return;
    }
    ++m_leaving;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(launchPs)),
                             [this, collective, member, node] {
                                 --m_leaving;
                                 Launch(collective, member, node);
                             });
}

/// Begin a collective at a rank whose library has launched it, and at switches with the first one.
void
CollectiveEngine::Launch(uint32_t collective, uint32_t member, uint32_t node)
{
    const std::vector<Rank>& members = m_plans.GetCollective(collective).ranks;
    const bool isFirst = !m_progress.IsRunning(collective);
    Begin(collective, member, node);
    const uint32_t count = m_plans.GetProgram(collective).GetMembers();
    for (uint32_t other = 0; isFirst && other < count; ++other)
    {
        if (!m_topology.IsRank(members[other]))
        { // a switch that reduces issues nothing
            Begin(collective, other, 0);
        }
    }
    Drain();
}

/// Begin the chunks of a collective at a member.
void
CollectiveEngine::Begin(uint32_t collective, uint32_t member, uint32_t node)
{
    if (m_progress.Issue(collective, member, node))
    {
        m_admission->Begin(collective, member);
    }
    else
    {
        FinishChunk(collective, member);
    }
}

void
CollectiveEngine::OnAdmitted(const ChunkPart& what, uint32_t placeBegin, uint32_t placeEnd)
{
    const Collective& collective = m_plans.GetCollective(what.collective);
    const ProgramTemplate& program = m_plans.GetProgram(what.collective);
    const uint32_t id = m_tasks.Admit(what, collective, program, placeBegin, placeEnd);
    if (id == TaskTable::NONE)
    {
        m_listener.OnEngineError("more than " + std::to_string(TaskTable::MAX_TASKS) +
                                 " chunks are in flight at once; lower concurrent_chunks");
        return;
    }
    if (!m_observers[RunObserver::STEPS].empty())
    {
        ReportAdmission(what, placeBegin, placeEnd);
    }
    const uint32_t first = program.GetParts()[what.part].memberBegin;
    const PartShape& shape = *m_tasks.Get(id).shape;
    for (uint32_t p = placeBegin; p < placeEnd; ++p)
    {
        if (const Rank rank = collective.ranks[program.GetPlaces()[p].member];
            m_topology.IsRank(rank))
        {
            for (RunObserver* observer : m_observers[RunObserver::CHUNKS])
            {
                observer->OnChunkBegun(MakeEvent(what, rank));
            }
        }
        shape.ForEachRoot(p - first, [this, id](uint32_t step) { PushIfReady({id, step}); });
    }
}

void
CollectiveEngine::OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    if (!m_tasks.IsAwaited(src, dst, tag))
    {
        std::ostringstream error;
        error << "internal error: a message of " << bytes << " bytes from rank " << src
              << " to rank " << dst << " arrived that no step waits for (tag 0x" << std::hex << tag
              << ")";
        m_listener.OnEngineError(error.str());
        return;
    }
    --m_inFlight;
    const Ready receiver = TaskTable::GetReceiver(tag);
    ReportMessage(&RunObserver::OnStepReceived, receiver, src, dst, bytes, tag, 0);
    Task& task = m_tasks.Get(receiver.task);
    const uint32_t place = task.shape->GetPlace(receiver.step);
    if (!task.isAdmitted[place])
    {
        m_admission->NoteData(task.what,
                              task.program->GetParts()[task.what.part].memberBegin + place);
    }
    m_tasks.GetState(task, receiver.step).pending -= PartShape::ONE_MESSAGE;
    PushIfReady(receiver);
    Drain();
}

void
CollectiveEngine::OnBundle(uint64_t tag)
{
    const Ready receiver = TaskTable::GetReceiver(tag);
    Task& task = m_tasks.Get(receiver.task);
    const PartShape::Step& step = task.shape->GetStep(receiver.step);
    m_inFlight -= step.steps;
    if (step.isRoot)
    { // it waits for nothing else, and the bundle has waited for the injection latency
        m_tasks.GetState(task, receiver.step).pending = 0;
        m_tasks.Finish(task, receiver.step);
        OnInjected(receiver);
    }
    else
    {
        m_tasks.GetState(task, receiver.step).pending -= step.steps * PartShape::ONE_MESSAGE;
        PushIfReady(receiver);
    }
    Drain();
}

/// Perform a step soon if it waits for nothing any more.
void
CollectiveEngine::PushIfReady(const Ready& ready)
{
    Task& task = m_tasks.Get(ready.task);
    if (!task.IsReady(ready.step))
    {
        return;
    }
    m_tasks.Finish(task, ready.step);
    for (RunObserver* observer : m_observers[RunObserver::STEPS])
    {
        observer->OnStepReady(MakeStepEvent(ready));
    }
    m_work.Push(ready);
}

void
CollectiveEngine::Drain()
{
    if (m_draining)
    {
        return;
    }
    m_draining = true;
    while (!m_work.IsEmpty())
    {
        const Ready ready = m_work.Pop();
        Perform(ready);
    }
    m_draining = false;
    m_listener.OnEngineSettled();
}

void
CollectiveEngine::Perform(const Ready& ready)
{
    switch (m_tasks.Get(ready.task).shape->GetStep(ready.step).op)
    {
    case StepOp::SEND:
        if (m_bundles != nullptr)
        {
            SendBundled(ready);
            break;
        }
        [[fallthrough]];
    case StepOp::RECV:
    case StepOp::RECV_REDUCE:
        Inject(ready);
        break;
    case StepOp::COPY:
        Complete(ready);
        break;
    case StepOp::REDUCE:
        Reduce(ready);
    }
}

/// @return true if a switch performs a step, where messages and reductions take no time
bool
CollectiveEngine::IsAtSwitch(const Ready& ready)
{
    if (m_topology.GetEndpoints() == m_topology.ranks)
    {
        return false;
    }
    const Task& task = m_tasks.Get(ready.task);
    return !m_topology.IsRank(task.GetRank(task.shape->GetPlace(ready.step)));
}

void
CollectiveEngine::Inject(const Ready& ready)
{
    const uint64_t delayPs = GetSendDelayPs(ready);
    if (delayPs != 0)
    {
        ++m_leaving;
        ns3::Simulator::Schedule(m_injectionLatency + ns3::Time(static_cast<int64_t>(delayPs)),
                                 [this, ready] {
                                     --m_leaving;
                                     OnInjected(ready);
                                     Drain();
                                 });
    }
    else if (m_injectionLatency.IsZero() || IsAtSwitch(ready))
    {
        OnInjected(ready);
    }
    else
    {
        m_injection.Push(ready);
    }
}

/// @return what the protocol adds to the injection latency of a step, of its messages the most
uint64_t
CollectiveEngine::GetSendDelayPs(const Ready& ready)
{
    const Task& task = m_tasks.Get(ready.task);
    const ProgramProtocol& protocol = task.program->GetProtocol();
    const PartShape& shape = *task.shape;
    if (!protocol.Exists() || shape.GetStep(ready.step).op != StepOp::SEND)
    {
        return 0;
    }
    const uint32_t member = task.GetMember(shape.GetPlace(ready.step));
    uint64_t most = 0;
    shape.ForEachMessage(ready.step, [&](const PartShape::Message& message, uint32_t turn) {
        const uint32_t peer = task.GetMember(shape.GetPeer(message.peer, turn));
        most = std::max(most, protocol.GetDelayPs(member, peer));
    });
    return most;
}

void
CollectiveEngine::OnInjected(const Ready& ready)
{
    switch (m_tasks.Get(ready.task).shape->GetStep(ready.step).op)
    {
    case StepOp::SEND:
        if (m_bundles == nullptr)
        {
            Send(ready);
        }
        Complete(ready);
        break;
    case StepOp::RECV_REDUCE:
        Reduce(ready);
        break;
    default:
        Complete(ready);
    }
}

void
CollectiveEngine::Send(const Ready& ready)
{
    const Task& task = m_tasks.Get(ready.task);
    const PartShape& shape = *task.shape;
    const PartShape::Step& step = shape.GetStep(ready.step);
    const uint32_t member = task.GetMember(shape.GetPlace(ready.step));
    const Rank src = task.ranks[member];
    const ProgramProtocol& protocol = task.program->GetProtocol();
    m_inFlight += step.steps;
    shape.ForEachMessage(ready.step, [&](const PartShape::Message& message, uint32_t turn) {
        const uint32_t peer = shape.GetPeer(message.peer, turn);
        const Rank dst = task.GetRank(peer);
        const uint64_t payload = task.GetBytes(message.first, turn, message.count);
        const uint64_t bytes = protocol.Exists()
                                   ? protocol.GetWireBytes(payload, member, task.GetMember(peer))
                                   : payload;
        const uint64_t tag = m_tasks.GetTag(ready.task, shape.GetMate(message, turn, peer));
        ReportMessage(&RunObserver::OnStepSent, ready, src, dst, bytes, tag, message.route);
        const uint32_t order = message.order + turn * step.orderTurn;
        m_outbox.Send({.place = GetTracePlace(task, member, order),
                       .dst = dst,
                       .bytes = bytes,
                       .tag = tag,
                       .route = message.route,
                       .isPut = true,
                       .sent = {}});
    });
}

/// @return the place of a step of a member, given its order in the shape, in the trace of its rank
TracePlace
CollectiveEngine::GetTracePlace(const Task& task, uint32_t member, uint32_t step) const
{
    const uint32_t node = m_progress.GetNode(task.what.collective, member);
    return {task.ranks[member], node, task.what.chunk, task.firstOrder + step};
}

void
CollectiveEngine::SendBundled(const Ready& ready)
{
    Task& task = m_tasks.Get(ready.task);
    const PartShape& shape = *task.shape;
    const PartShape::Step& step = shape.GetStep(ready.step);
    const uint32_t place = shape.GetPlace(ready.step);
    m_inFlight += step.steps;
    const ProgramProtocol& protocol = task.program->GetProtocol();
    const uint32_t member = task.GetMember(place);
    m_burst.resize(step.steps);
    BundledMessage* near = m_burst.data(); // those with the delay of far messages are at the end
    BundledMessage* far = near + step.steps;
    shape.ForEachMessage(ready.step, [&](const PartShape::Message& message, uint32_t turn) {
        const uint32_t peer = shape.GetPeer(message.peer, turn);
        const Ready receiver{ready.task, shape.GetMate(message, turn, peer)};
        uint64_t bytes = task.GetBytes(message.first, turn, message.count);
        bool isFar = false;
        if (protocol.Exists())
        {
            const uint32_t target = task.GetMember(peer);
            isFar = !protocol.AreNear(member, target);
            bytes = protocol.GetWireBytes(bytes, member, target);
        }
        BundledMessage& next = isFar ? *--far : *near++;
        next.dst = task.GetRank(peer);
        next.bundle = GetBundle(receiver);
        next.route = message.route;
        next.bytes = bytes;
    });
    const ns3::Time latency = IsAtSwitch(ready) ? ns3::Time() : m_injectionLatency;
    const auto delayPs = static_cast<uint64_t>(latency.GetTimeStep());
    const auto put = [this, &task, place, delayPs](std::span<const BundledMessage> messages,
                                                   uint64_t morePs) {
        if (!messages.empty())
        {
            m_bundles->PutIntoBundles(task.GetRank(place),
                                      messages,
                                      ns3::Time(static_cast<int64_t>(delayPs + morePs)),
                                      m_plans.GetGroup(task.what.collective));
        }
    };
    const auto count = static_cast<std::size_t>(near - m_burst.data());
    put(std::span(m_burst).first(count), protocol.nearDelayPs);
    std::reverse(far, m_burst.data() + m_burst.size());
    put(std::span(m_burst).subspan(count), protocol.farDelayPs);
    if (step.nextBegin != step.nextEnd || task.stepsLeft[place] == step.steps)
    { // some step waits until this one is done
        Inject(ready);
        return;
    }
    task.sentAt[place] = NowPs(m_network) + delayPs + GetSendDelayPs(ready);
    LeavePlace(ready.task, place, step.steps);
}

/// @return the bundle of the messages that a step receives, which the first of them opens
uint32_t
CollectiveEngine::GetBundle(const Ready& receiver)
{
    uint32_t& bundle = m_tasks.GetState(m_tasks.Get(receiver.task), receiver.step).bundle;
    if (bundle == StepStates::NONE)
    {
        bundle = OpenBundle(receiver);
    }
    return bundle;
}

uint32_t
CollectiveEngine::OpenBundle(const Ready& receiver)
{
    const PartShape::Step& step = m_tasks.Get(receiver.task).shape->GetStep(receiver.step);
    // If the step also waits for other steps, its injection begins afterwards.
    const bool isInjected = step.isRoot && !IsAtSwitch(receiver);
    const ns3::Time delay = isInjected ? m_injectionLatency : ns3::Time();
    return m_bundles->OpenBundle(m_tasks.GetTag(receiver.task, receiver.step), step.steps, delay);
}

void
CollectiveEngine::Reduce(const Ready& ready)
{
    if (!m_reductions.AreTimed() || IsAtSwitch(ready))
    {
        Complete(ready);
        return;
    }
    const Task& task = m_tasks.Get(ready.task);
    const PartShape::Step& step = task.shape->GetStep(ready.step);
    const uint32_t turn = task.shape->GetTurn(ready.step);
    const uint32_t member = task.GetMember(task.shape->GetPlace(ready.step));
    const uint64_t bytes = task.GetBytes(step.first, turn, step.count);
    const uint32_t order = step.order + turn * step.orderTurn;
    m_reductions.Reduce(GetTracePlace(task, member, order), bytes, ready);
}

void
CollectiveEngine::Complete(const Ready& ready)
{
    for (RunObserver* observer : m_observers[RunObserver::STEPS])
    {
        observer->OnStepDone(MakeStepEvent(ready));
    }
    Task& task = m_tasks.Get(ready.task);
    const PartShape::Step& step = task.shape->GetStep(ready.step);
    task.shape->ForEachNext(ready.step, [&](uint32_t after) {
        m_tasks.Advance(task, after);
        PushIfReady({ready.task, after});
    });
    LeavePlace(ready.task, task.shape->GetPlace(ready.step), step.steps);
}

/// Record that a member has finished a number of steps of a part.
void
CollectiveEngine::LeavePlace(uint32_t taskId, uint32_t place, uint32_t steps)
{
    Task& task = m_tasks.Get(taskId);
    task.stepsLeft[place] -= steps;
    if (task.stepsLeft[place] != 0)
    {
        return;
    }
    const uint64_t now = NowPs(m_network);
    if (m_bundles == nullptr || task.sentAt[place] <= now)
    {
        FinishPlace(taskId, place);
        return;
    }
    ++m_leaving;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(task.sentAt[place] - now)),
                             [this, taskId, place] {
                                 --m_leaving;
                                 FinishPlace(taskId, place);
                                 Drain();
                             });
}

void
CollectiveEngine::FinishPlace(uint32_t taskId, uint32_t place)
{
    Task& task = m_tasks.Get(taskId);
    const ProgramTemplate::Place& what = task.places[place];
    const ChunkPart part = task.what;
    const Rank rank = task.ranks[what.member];
    const uint32_t placeId = task.program->GetParts()[part.part].memberBegin + place;
    if (m_topology.IsRank(rank))
    {
        for (RunObserver* observer : m_observers[RunObserver::CHUNKS])
        {
            observer->OnChunkEnded(MakeEvent(part, rank));
        }
    }
    if (--task.membersLeft == 0)
    {
        m_tasks.Release(taskId);
    }
    // Queue the next part before this slot is given back, so that the first of all waiting parts
    // gets the slot.
    if (what.next != ProgramTemplate::NONE)
    {
        m_admission->Reach(part.collective, part.chunk, what.next);
    }
    m_admission->Leave(part, placeId);
    if (what.next == ProgramTemplate::NONE)
    {
        FinishChunk(part.collective, what.member);
    }
}

void
CollectiveEngine::FinishChunk(uint32_t collective, uint32_t member)
{
    if (!m_progress.FinishChunk(collective, member))
    {
        return;
    }
    const Collective& what = m_plans.GetCollective(collective);
    const Rank rank = what.ranks[member];
    if (!m_topology.IsRank(rank))
    {
        return;
    }
    for (RunObserver* observer : m_observers[RunObserver::COLLECTIVES])
    {
        observer->OnCollectiveEnded({NowPs(m_network), rank, &what});
    }
    m_listener.OnCollectiveDone(collective, rank);
}

ChunkEvent
CollectiveEngine::MakeEvent(const ChunkPart& what, Rank rank) const
{
    const ProgramTemplate::Part& part = m_plans.GetPart(what.collective, what.part);
    return {NowPs(m_network),
            rank,
            &m_plans.GetCollective(what.collective),
            what.chunk,
            part.phase,
            part.dimension};
}

StepEvent
CollectiveEngine::MakeStepEvent(const Ready& ready)
{
    const Task& task = m_tasks.Get(ready.task);
    return {NowPs(m_network),
            task.GetRank(task.shape->GetPlace(ready.step)),
            &m_plans.GetCollective(task.what.collective),
            task.what.chunk,
            uint64_t{ready.task} << 32 | ready.step,
            task.shape->GetStep(ready.step).op};
}

void
CollectiveEngine::ReportAdmission(const ChunkPart& what,
                                  uint32_t placeBegin,
                                  uint32_t placeEnd) const
{
    const Collective& collective = m_plans.GetCollective(what.collective);
    const ProgramTemplate& program = m_plans.GetProgram(what.collective);
    std::vector<Rank> ranks;
    for (uint32_t place = placeBegin; place < placeEnd; ++place)
    {
        const Rank rank = collective.ranks[program.GetPlaces()[place].member];
        if (m_topology.IsRank(rank))
        {
            ranks.push_back(rank);
        }
    }
    const uint32_t phase = m_plans.GetPart(what.collective, what.part).phase;
    for (RunObserver* observer : m_observers[RunObserver::STEPS])
    {
        observer->OnChunkAdmitted({NowPs(m_network), &collective, what.chunk, phase, ranks});
    }
}

/**
 * Report a message between two steps to the observers.
 *
 * @param method the observer method to call
 * @param step the step that sends or receives it
 */
void
CollectiveEngine::ReportMessage(void (RunObserver::*method)(const StepMessageEvent&),
                                const Ready& step,
                                Rank src,
                                Rank dst,
                                uint64_t bytes,
                                uint64_t tag,
                                uint32_t route)
{
    for (RunObserver* observer : m_observers[RunObserver::STEPS])
    {
        const ChunkPart& what = m_tasks.Get(step.task).what;
        (observer->*method)({NowPs(m_network),
                             src,
                             dst,
                             bytes,
                             tag,
                             route,
                             &m_plans.GetCollective(what.collective),
                             what.chunk,
                             uint64_t{step.task} << 32 | step.step});
    }
}

uint64_t
CollectiveEngine::GetActive() const
{
    return m_inFlight + m_reductions.GetActive() + m_leaving + m_injection.GetSize();
}

std::string
CollectiveEngine::Describe(uint32_t collective, Rank rank) const
{
    const uint32_t member = m_plans.FindMember(collective, rank);
    return "collective " + std::to_string(collective) + " (" +
           m_plans.GetCollective(collective).name + ")" + m_progress.Describe(collective, member) +
           m_tasks.Describe(collective, member);
}

} // namespace cosim
