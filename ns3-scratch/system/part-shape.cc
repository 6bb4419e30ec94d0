/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/part-shape.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

namespace cosim
{

namespace
{

/// @return whether the group that begins with a step is one step for all repetitions
bool
IsShared(const PartShape::Source& source, uint32_t first)
{
    if (!source.program.IsRepetition() || !source.groups.IsAlone(first))
    {
        return false;
    }
    uint64_t steps = 0;
    for (uint32_t s = first; s != StepGroups::NONE; s = source.groups.GetNext(s))
    {
        steps += source.program.repeat;
    }
    return steps <= StepGroups::MAX_STEPS;
}

/// Number the steps of a shape: the first of each place, then the second of each, and so on, and
/// then the shared ones.
void
Number(PartShape::Source& source)
{
    source.origin.clear();
    for (uint32_t place = 0; place < source.steps.size(); ++place)
    {
        const PartShape::StepRange& own = source.steps[place];
        for (uint32_t s = own.begin; s < own.end; ++s)
        {
            if (source.groups.IsFirst(s))
            {
                source.origin.push_back({s, place, s - own.begin, IsShared(source, s)});
            }
        }
    }
    std::sort(source.origin.begin(),
              source.origin.end(),
              [](const PartShape::Origin& a, const PartShape::Origin& b) {
                  return std::tie(a.isShared, a.round, a.place) <
                         std::tie(b.isShared, b.round, b.place);
              });
    source.number.resize(source.program.op.size());
    for (uint32_t i = 0; i < source.origin.size(); ++i)
    {
        for (uint32_t s = source.origin[i].step; s != StepGroups::NONE;
             s = source.groups.GetNext(s))
        {
            source.number[s] = i;
        }
    }
}

/// @return the address that a program gives for a step
PartShape::Address
GetAddress(const Program& program, uint32_t step)
{
    constexpr uint32_t NO_END = ~uint32_t{0};
    const uint32_t unit = program.offset[step];
    if (program.IsRepetition())
    {
        return {unit, program.repeatStep, NO_END};
    }
    const uint32_t turn = program.IsRotation() ? program.offsetTurn[step] : 0;
    const uint32_t region = program.GetTurns() * turn;
    return {unit, turn, turn == 0 ? 0 : unit - unit % region + region};
}

} // namespace

PartShape::PartShape(Source& source)
    : m_places(source.program.IsRotation() ? source.program.groupSize : UINT32_MAX),
      m_block(source.program.IsRotation() ? source.program.GetBlock() : 0)
{
    Number(source);
    AddSteps(source);
    AddDependencies(source);
    FindRoots(source);
    MakeIds(source.program);
}

void
PartShape::AddSteps(const Source& source)
{
    m_steps.reserve(source.origin.size());
    for (const Origin& origin : source.origin)
    {
        AddStep(source, origin);
    }
}

/// Append a step with its messages. It does not wait for other steps yet.
void
PartShape::AddStep(const Source& source, const Origin& origin)
{
    const Program& program = source.program;
    const uint32_t first = origin.step;
    const auto placeOf = [&source, &program](uint32_t peer) {
        return program.IsRotation() ? peer : source.placeOf[peer];
    };
    Step step{};
    step.place = origin.place;
    step.peer = placeOf(program.peer[first]);
    step.first = GetAddress(program, first);
    step.count = program.count[first];
    const PartShape::StepRange& own = source.steps[origin.place];
    const uint32_t before = program.IsRepetition() ? own.begin * (program.repeat - 1) : 0;
    step.order = before + first;
    step.orderTurn = program.IsRepetition() ? own.end - own.begin : 0;
    step.op = program.op[first];
    step.isRoot = true;
    step.messageBegin = static_cast<uint32_t>(m_messages.size());
    for (uint32_t s = first; s != StepGroups::NONE; s = source.groups.GetNext(s))
    {
        ++step.steps;
        if (step.op == StepOp::SEND)
        {
            m_messages.push_back({placeOf(program.peer[s]),
                                  source.number[program.target[s]],
                                  GetAddress(program, s),
                                  program.count[s],
                                  program.route.empty() ? 0 : program.route[s],
                                  before + s});
        }
    }
    step.messageEnd = static_cast<uint32_t>(m_messages.size());
    step.isShared = origin.isShared;
    step.steps *= step.isShared ? program.repeat : 1;
    m_steps.push_back(step);
}

void
PartShape::AddDependencies(const Source& source)
{
    const Program& program = source.program;
    // Calls f(step, dependency). Dependencies on earlier phases are skipped, because they are done
    // when the part starts. A dependency on a merged step counts once.
    const auto forDependencies = [&source, &program](const auto& f) {
        for (uint32_t i = 0; i < source.origin.size(); ++i)
        {
            const uint32_t s = source.origin[i].step;
            for (uint32_t d = program.depBegin[s]; d < program.depBegin[s + 1]; ++d)
            {
                const uint32_t dep = program.dep[d];
                if (program.phase[dep] == program.phase[s] && source.groups.IsFirst(dep))
                {
                    f(i, source.number[dep]);
                }
            }
        }
    };
    m_pending.resize(m_steps.size());
    forDependencies([this](uint32_t step, uint32_t dep) {
        ++m_pending[step];
        m_steps[step].isRoot = false;
        ++m_steps[dep].nextEnd;
    });
    uint32_t begin = 0; // turn the counts into ranges
    for (uint32_t i = 0; i < m_steps.size(); ++i)
    {
        Step& step = m_steps[i];
        const uint32_t count = step.nextEnd;
        step.nextBegin = step.nextEnd = begin;
        begin += count;
        if (m_pending[i] >= ONE_MESSAGE)
        {
            throw std::invalid_argument("a step of a program waits for " +
                                        std::to_string(m_pending[i]) + " others, but at most " +
                                        std::to_string(ONE_MESSAGE - 1) + " are accepted");
        }
        if (step.op == StepOp::RECV || step.op == StepOp::RECV_REDUCE)
        {
            m_pending[i] += step.steps * ONE_MESSAGE;
        }
    }
    m_next.resize(begin);
    forDependencies([this](uint32_t step, uint32_t dep) { m_next[m_steps[dep].nextEnd++] = step; });
}

/// List the steps that wait for no other step, in the order of the program.
void
PartShape::FindRoots(const Source& source)
{
    for (const StepRange& own : source.steps)
    {
        const auto begin = static_cast<uint32_t>(m_roots.size());
        for (uint32_t s = own.begin; s < own.end; ++s)
        {
            if (source.groups.IsFirst(s) && m_steps[source.number[s]].isRoot)
            {
                m_roots.push_back(source.number[s]);
            }
        }
        m_rootsOf.push_back({begin, static_cast<uint32_t>(m_roots.size())});
    }
}

/// Turn the indices of steps into ids with turn 0.
void
PartShape::MakeIds(const Program& program)
{
    const auto steps = static_cast<uint32_t>(m_steps.size());
    const auto firstShared = std::partition_point(m_steps.begin(),
                                                  m_steps.end(),
                                                  [](const Step& step) { return !step.isShared; });
    m_ids = program.IsRotation() ? StepIds::OfRotation(steps, program.GetTurns())
            : program.IsRepetition()
                ? StepIds::OfRepetition(steps,
                                        static_cast<uint32_t>(firstShared - m_steps.begin()),
                                        program.repeat)
                : StepIds::OfTable(steps);
    for (Message& message : m_messages)
    {
        message.receiver = m_ids.GetFirst(message.receiver);
        if (m_block != 0)
        {
            message.receiver = m_ids.AtTurn(message.receiver, message.peer / m_block);
        }
    }
    for (std::vector<uint32_t>* indices : {&m_next, &m_roots})
    {
        for (uint32_t& index : *indices)
        {
            index = m_ids.GetFirst(index);
        }
    }
}

} // namespace cosim
