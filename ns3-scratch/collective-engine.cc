/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "collective-engine.h"

#include "stream-validator.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace cosim
{

namespace
{

// A tag: the slot of the running part, how often the slot was used before, the receiving step.
constexpr int TASK_SHIFT = 44;
constexpr int GENERATION_SHIFT = 32;
constexpr uint32_t GENERATION_MASK = 0xfff;
constexpr std::size_t MAX_TASKS = std::size_t{1} << (64 - TASK_SHIFT);

/// @return simulated time [ps]
uint64_t
NowPs(const NetworkApi& network)
{
    return static_cast<uint64_t>(network.SimGetTime().GetTimeStep());
}

/// @return the time that a reduction takes [ps], rounded up, at most MAX_TIME_PS
uint64_t
ReductionPs(uint64_t bytes, uint64_t bytesPerS)
{
    __extension__ typedef unsigned __int128 Wide;
    const Wide ps = (Wide{bytes} * 1'000'000'000'000 + bytesPerS - 1) / bytesPerS;
    return ps > MAX_TIME_PS ? MAX_TIME_PS : static_cast<uint64_t>(ps);
}

} // namespace

CollectiveEngine::CollectiveEngine(const Stream& stream,
                                   NetworkApi& network,
                                   CollectiveListener& listener)
    : m_network(network),
      m_listener(listener),
      m_scheduler(stream.topology.ranks, stream.settings.system, *this),
      m_plans(stream, m_scheduler),
      m_reductionBytesPerS(stream.settings.system.reductionBytesPerS),
      m_hasInjection(stream.settings.system.injectionLatencyPs != 0),
      m_injection(ns3::Time(static_cast<int64_t>(stream.settings.system.injectionLatencyPs)),
                  *this,
                  &CollectiveEngine::OnInjected,
                  &CollectiveEngine::Drain),
      m_times(stream.collectives.size()),
      m_running(stream.collectives.size()),
      m_reductionFree(stream.topology.ranks)
{
    m_network.SetArrivalHandler(this);
}

CollectiveEngine::~CollectiveEngine()
{
    m_network.SetArrivalHandler(nullptr);
}

void
CollectiveEngine::Issue(uint32_t collective, Rank rank)
{
    const Collective& what = m_plans.GetCollective(collective);
    const ProgramTemplate& program = m_plans.GetProgram(collective);
    if (m_times[collective].start == CollectiveTimes::UNKNOWN)
    {
        m_times[collective].start = NowPs(m_network);
        m_running[collective] = std::make_unique<Running>();
        Running& running = *m_running[collective];
        running.issue = m_issues++;
        running.issued.resize(what.ranks.size());
        running.chunksLeft.assign(what.ranks.size(), what.chunks);
        running.reached.resize(program.GetParts().size());
    }
    Running& running = *m_running[collective];
    const uint32_t member = m_plans.FindMember(collective, rank);
    running.issued[member] = true;
    const uint32_t part = program.GetFirstPart(member);
    if (part == NONE)
    {
        running.chunksLeft[member] = 1;
        FinishChunk(collective, member);
    }
    else
    {
        const ProgramTemplate::Part& first = program.GetParts()[part];
        const uint32_t members = first.memberEnd - first.memberBegin;
        const uint32_t reached = ++running.reached[part];
        if (first.firsts == members)
        {
            if (reached == members)
            {
                EnqueuePart(collective, part, 0, what.chunks);
            }
        }
        else
        { // other members come from earlier phases: look at the chunks that some have left
            for (uint32_t chunk = 0; chunk < running.progress.size(); ++chunk)
            {
                const uint32_t id = running.progress[chunk];
                if (id != NONE && m_progress[id].reached[part] + reached == members)
                {
                    CountReached(collective, chunk, part);
                }
            }
        }
    }
    Drain();
}

void
CollectiveEngine::EnqueuePart(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count)
{
    m_scheduler.Enqueue(m_plans.GetLane(collective, part),
                        m_plans.GetCollective(collective).priorityClass,
                        m_running[collective]->issue,
                        m_plans.GetPart(collective, part).phase,
                        {collective, part, chunk},
                        count);
}

CollectiveEngine::Progress&
CollectiveEngine::GetProgress(uint32_t collective, uint32_t chunk)
{
    Running& running = *m_running[collective];
    if (running.progress.empty())
    {
        running.progress.assign(m_plans.GetCollective(collective).chunks, NONE);
    }
    uint32_t& id = running.progress[chunk];
    if (id == NONE)
    {
        if (m_freeProgress.empty())
        {
            m_freeProgress.push_back(static_cast<uint32_t>(m_progress.size()));
            m_progress.emplace_back();
        }
        id = m_freeProgress.back();
        m_freeProgress.pop_back();
        const auto& parts = m_plans.GetProgram(collective).GetParts();
        Progress& progress = m_progress[id];
        progress.reached.assign(parts.size(), 0);
        progress.partsLeft = static_cast<uint32_t>(
            std::count_if(parts.begin(), parts.end(), [](const ProgramTemplate::Part& part) {
                return part.firsts != part.memberEnd - part.memberBegin;
            }));
    }
    return m_progress[id];
}

void
CollectiveEngine::CountReached(uint32_t collective, uint32_t chunk, uint32_t part)
{
    Running& running = *m_running[collective];
    const ProgramTemplate::Part& what = m_plans.GetPart(collective, part);
    Progress& progress = GetProgress(collective, chunk);
    if (progress.reached[part] + running.reached[part] == what.memberEnd - what.memberBegin)
    {
        if (--progress.partsLeft == 0)
        {
            m_freeProgress.push_back(running.progress[chunk]);
            running.progress[chunk] = NONE;
        }
        EnqueuePart(collective, part, chunk, 1);
    }
}

void
CollectiveEngine::StartPart(const ChunkPart& what)
{
    const Collective& collective = m_plans.GetCollective(what.collective);
    const ProgramTemplate& program = m_plans.GetProgram(what.collective);
    const ProgramTemplate::Part& part = program.GetParts()[what.part];
    if (m_freeTasks.empty())
    {
        if (m_tasks.size() == MAX_TASKS)
        {
            m_listener.OnEngineError("more than " + std::to_string(MAX_TASKS) +
                                     " chunks are in flight at once; lower concurrent_chunks");
            return;
        }
        m_freeTasks.push_back(static_cast<uint32_t>(m_tasks.size()));
        m_tasks.emplace_back();
    }
    const uint32_t id = m_freeTasks.back();
    m_freeTasks.pop_back();
    Task& task = m_tasks[id];
    task.what = what;
    task.membersLeft = part.memberEnd - part.memberBegin;
    task.chunkBytes = GetChunkBytes(collective.bytes, collective.chunks, what.chunk);
    task.program = &program;
    task.steps = program.GetSteps().data() + part.stepBegin;
    task.places = program.GetPlaces().data() + part.memberBegin;
    task.ranks = collective.ranks.data();
    const uint32_t* pending = program.GetPending().data();
    task.pending.assign(pending + part.stepBegin, pending + part.stepEnd);
    task.stepsLeft.resize(task.membersLeft);
    for (uint32_t place = 0; place < task.membersLeft; ++place)
    {
        task.stepsLeft[place] = task.places[place].steps;
    }
    for (uint32_t i = part.readyBegin; i < part.readyEnd; ++i)
    {
        m_work.Push({id, program.GetReady()[i]});
    }
}

void
CollectiveEngine::OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    const auto id = static_cast<uint32_t>(tag >> TASK_SHIFT);
    const auto generation = static_cast<uint32_t>(tag >> GENERATION_SHIFT) & GENERATION_MASK;
    const auto step = static_cast<uint32_t>(tag);
    const auto expects = [&] {
        if (id >= m_tasks.size())
        {
            return false;
        }
        const Task& task = m_tasks[id];
        return task.membersLeft != 0 && (task.generation & GENERATION_MASK) == generation &&
               step < task.pending.size() &&
               (task.pending[step] & ProgramTemplate::AWAITS_MESSAGE) != 0 &&
               task.ranks[task.steps[step].member] == dst &&
               task.ranks[task.steps[step].peer] == src;
    };
    if (!expects())
    {
        std::ostringstream error;
        error << "internal error: a message of " << bytes << " bytes from rank " << src
              << " to rank " << dst << " arrived that no step waits for (tag 0x" << std::hex << tag
              << ")";
        m_listener.OnEngineError(error.str());
        return;
    }
    --m_inFlight;
    uint32_t& pending = m_tasks[id].pending[step];
    pending &= ~ProgramTemplate::AWAITS_MESSAGE;
    if (pending == 0)
    {
        m_work.Push({id, step});
    }
    Drain();
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
        const Ready ready = m_work.Front();
        m_work.Pop();
        Perform(ready);
    }
    m_draining = false;
    m_listener.OnEngineSettled();
}

void
CollectiveEngine::Perform(const Ready& ready)
{
    switch (m_tasks[ready.task].steps[ready.step].op)
    {
    case StepOp::SEND:
    case StepOp::RECV:
    case StepOp::RECV_REDUCE:
        if (m_hasInjection)
        {
            m_injection.Push(ready);
        }
        else
        {
            OnInjected(ready);
        }
        break;
    case StepOp::COPY:
        Complete(ready);
        break;
    case StepOp::REDUCE:
        Reduce(ready);
    }
}

void
CollectiveEngine::OnInjected(const Ready& ready)
{
    switch (m_tasks[ready.task].steps[ready.step].op)
    {
    case StepOp::SEND:
        Send(ready);
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
    const Task& task = m_tasks[ready.task];
    const ProgramTemplate::Step& step = task.steps[ready.step];
    const uint64_t tag =
        static_cast<uint64_t>(ready.task) << TASK_SHIFT |
        static_cast<uint64_t>(task.generation & GENERATION_MASK) << GENERATION_SHIFT | step.mate;
    ++m_inFlight;
    ++m_messages;
    m_network.SimPut(task.ranks[step.member],
                     task.ranks[step.peer],
                     task.program->GetBytes(task.chunkBytes, step.offset, step.count),
                     tag);
}

void
CollectiveEngine::Reduce(const Ready& ready)
{
    if (m_reductionBytesPerS == 0)
    {
        Complete(ready);
        return;
    }
    const Task& task = m_tasks[ready.task];
    const ProgramTemplate::Step& step = task.steps[ready.step];
    const uint64_t bytes = task.program->GetBytes(task.chunkBytes, step.offset, step.count);
    const uint64_t now = NowPs(m_network);
    uint64_t& free = m_reductionFree[task.ranks[step.member]];
    free =
        std::min(std::max(free, now) + ReductionPs(bytes, m_reductionBytesPerS), now + MAX_TIME_PS);
    ++m_reducing;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(free - now)),
                             &CollectiveEngine::OnReduced,
                             this,
                             ready.task,
                             ready.step);
}

void
CollectiveEngine::OnReduced(uint32_t task, uint32_t step)
{
    --m_reducing;
    Complete({task, step});
    Drain();
}

void
CollectiveEngine::Complete(const Ready& ready)
{
    Task& task = m_tasks[ready.task];
    const ProgramTemplate::Step& step = task.steps[ready.step];
    const uint32_t* next = task.program->GetNext().data();
    for (uint32_t i = step.nextBegin; i < step.nextEnd; ++i)
    {
        if (--task.pending[next[i]] == 0)
        {
            m_work.Push({ready.task, next[i]});
        }
    }
    if (--task.stepsLeft[step.place] == 0)
    {
        FinishPlace(task, ready.task, step.place);
    }
}

void
CollectiveEngine::FinishPlace(Task& task, uint32_t taskId, uint32_t place)
{
    const ProgramTemplate::Place& what = task.places[place];
    const ChunkPart part = task.what;
    const Rank rank = task.ranks[what.member];
    const uint32_t dimension = task.program->GetParts()[part.part].dimension;
    if (--task.membersLeft == 0)
    { // no step and no message refers to it any more
        ++task.generation;
        m_freeTasks.push_back(taskId);
    }
    // First wait for the next slot, then give this one back: the best of all that wait gets it.
    if (what.nextPart != NONE)
    {
        ++GetProgress(part.collective, part.chunk).reached[what.nextPart];
        CountReached(part.collective, part.chunk, what.nextPart);
    }
    m_scheduler.Release(rank, dimension);
    if (what.nextPart == NONE)
    {
        FinishChunk(part.collective, what.member);
    }
}

void
CollectiveEngine::FinishChunk(uint32_t collective, uint32_t member)
{
    Running& running = *m_running[collective];
    if (--running.chunksLeft[member] != 0)
    {
        return;
    }
    const std::vector<Rank>& ranks = m_plans.GetCollective(collective).ranks;
    if (++running.membersDone == ranks.size())
    {
        m_times[collective].end = NowPs(m_network);
        m_running[collective].reset();
    }
    m_listener.OnCollectiveDone(collective, ranks[member]);
}

uint64_t
CollectiveEngine::GetActive() const
{
    return m_inFlight + m_reducing + m_injection.GetSize();
}

uint64_t
CollectiveEngine::GetTotalBytes() const
{
    return m_plans.GetTotalBytes();
}

uint64_t
CollectiveEngine::GetMessages() const
{
    return m_messages;
}

const CollectiveTimes&
CollectiveEngine::GetTimes(uint32_t collective) const
{
    return m_times[collective];
}

const ChunkScheduler&
CollectiveEngine::GetScheduler() const
{
    return m_scheduler;
}

std::string
CollectiveEngine::Describe(uint32_t collective, Rank rank) const
{
    std::ostringstream text;
    const Collective& what = m_plans.GetCollective(collective);
    text << "collective " << collective << " (" << what.name << ")";
    if (!m_running[collective])
    {
        return text.str();
    }
    const Running& running = *m_running[collective];
    const uint32_t member = m_plans.FindMember(collective, rank);
    const auto missing = std::count(running.issued.begin(), running.issued.end(), false);
    text << ": " << what.chunks - running.chunksLeft[member] << " of " << what.chunks
         << " chunks done";
    if (missing != 0)
    {
        const auto first = std::find(running.issued.begin(), running.issued.end(), false);
        text << ", not issued by " << missing << " of " << what.ranks.size()
             << " ranks, the first of them rank "
             << what.ranks[static_cast<std::size_t>(first - running.issued.begin())];
    }
    for (const Task& task : m_tasks)
    {
        if (task.membersLeft == 0 || task.what.collective != collective)
        {
            continue;
        }
        const ProgramTemplate::Part& part = task.program->GetParts()[task.what.part];
        for (uint32_t place = 0; place < part.memberEnd - part.memberBegin; ++place)
        {
            if (task.places[place].member == member && task.stepsLeft[place] != 0)
            {
                text << ", chunk " << task.what.chunk << " with "
                     << task.places[place].steps - task.stepsLeft[place] << " of "
                     << task.places[place].steps << " steps done in phase " << part.phase;
                const auto awaits = [&task, place](uint32_t step) {
                    return task.steps[step].place == place &&
                           task.pending[step] == ProgramTemplate::AWAITS_MESSAGE;
                };
                for (uint32_t step = 0; step < task.pending.size(); ++step)
                {
                    if (awaits(step))
                    {
                        text << ", waiting for rank " << task.ranks[task.steps[step].peer];
                        break;
                    }
                }
                return text.str();
            }
        }
    }
    return text.str();
}

} // namespace cosim
