/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/part-shape.h"

#include "system/step-order.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// Number the steps of a shape in the order of the program.
void
Number(PartShape::Source& source)
{
    source.origin.clear();
    source.number.resize(source.program.op.size());
    for (const PartShape::StepRange& own : source.steps)
    {
        for (uint32_t s = own.begin; s < own.end; ++s)
        {
            if (source.groups.IsFirst(s))
            {
                source.number[s] = static_cast<uint32_t>(source.origin.size());
                source.origin.push_back(s);
            }
            source.number[s] = source.number[source.groups.GetFirst(s)];
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
    const uint32_t region = program.groupSize * turn;
    return {unit, turn, turn == 0 ? 0 : unit - unit % region + region};
}

} // namespace

PartShape::PartShape(Source& source)
    : m_places(source.program.IsRotation() ? source.program.groupSize
                                           : static_cast<uint32_t>(source.steps.size())),
      m_placeMask(source.program.IsRotation() ? ~uint32_t{0} : 0)
{
    Number(source);
    AddSteps(source);
    AddDependencies(source);
    FindRoots(source.steps.size());
    SortSteps();
    SortSlices();
    MakeIds(source.program);
}

void
PartShape::AddSteps(const Source& source)
{
    m_steps.reserve(source.origin.size());
    auto next = source.origin.begin();
    for (uint32_t place = 0; place < source.steps.size(); ++place)
    {
        for (; next != source.origin.end() && *next < source.steps[place].end &&
               *next >= source.steps[place].begin;
             ++next)
        {
            AddStep(source, place, *next);
        }
    }
}

/// Append a step with its messages. It does not wait for other steps yet.
void
PartShape::AddStep(const Source& source, uint32_t place, uint32_t first)
{
    const Program& program = source.program;
    const auto placeOf = [&source, &program](uint32_t peer) {
        return program.IsRotation() ? peer : source.placeOf[peer];
    };
    Step step{};
    step.place = place;
    step.peer = placeOf(program.peer[first]);
    step.first = GetAddress(program, first);
    step.count = program.count[first];
    const PartShape::StepRange& own = source.steps[place];
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
                                  before + s,
                                  false});
        }
    }
    step.messageEnd = static_cast<uint32_t>(m_messages.size());
    step.isShared = program.IsRepetition() && source.groups.IsAlone(first) &&
                    uint64_t{step.steps} * program.repeat <= StepGroups::MAX_STEPS;
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
            const uint32_t s = source.origin[i];
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

/// List the steps that wait for no other step.
void
PartShape::FindRoots(std::size_t places)
{
    uint32_t i = 0;
    for (uint32_t place = 0; place < places; ++place)
    {
        const auto begin = static_cast<uint32_t>(m_roots.size());
        for (; i < m_steps.size() && m_steps[i].place == place; ++i)
        {
            if (m_steps[i].isRoot)
            {
                m_roots.push_back(i);
            }
        }
        m_rootsOf.push_back({begin, static_cast<uint32_t>(m_roots.size())});
    }
}

/// Number the steps in the order in which they become ready, but shared ones after all others.
void
PartShape::SortSteps()
{
    const auto forEachAfter = [this](uint32_t step, const auto& f) {
        for (uint32_t i = m_steps[step].messageBegin; i < m_steps[step].messageEnd; ++i)
        {
            f(m_messages[i].receiver);
        }
        for (uint32_t i = m_steps[step].nextBegin; i < m_steps[step].nextEnd; ++i)
        {
            f(m_next[i]);
        }
    };
    std::vector<uint32_t> before(m_steps.size());
    for (uint32_t step = 0; step < m_steps.size(); ++step)
    {
        forEachAfter(step, [&before](uint32_t after) { ++before[after]; });
    }
    std::vector<uint32_t> place = OrderByReadiness(std::move(before), forEachAfter);
    MoveToEnd(place, [this](uint32_t step) { return m_steps[step].isShared; });
    for (Message& message : m_messages)
    {
        message.receiver = place[message.receiver];
    }
    for (std::vector<uint32_t>* steps : {&m_next, &m_roots})
    {
        for (uint32_t& step : *steps)
        {
            step = place[step];
        }
    }
    MoveTo(std::span(m_steps), place);
    MoveTo(std::span(m_pending), place);
}

/// Store messages and waiting steps in the order of their steps.
void
PartShape::SortSlices()
{
    std::vector<Message> messages;
    messages.reserve(m_messages.size());
    std::vector<uint32_t> next;
    next.reserve(m_next.size());
    for (Step& step : m_steps)
    {
        const auto move = [](const auto& from, auto& to, uint32_t& begin, uint32_t& end) {
            const auto first = static_cast<uint32_t>(to.size());
            to.insert(to.end(), from.begin() + begin, from.begin() + end);
            begin = first;
            end = static_cast<uint32_t>(to.size());
        };
        move(m_messages, messages, step.messageBegin, step.messageEnd);
        move(m_next, next, step.nextBegin, step.nextEnd);
    }
    m_messages = std::move(messages);
    m_next = std::move(next);
}

/// Turn the indices of steps, now that they are sorted, into ids with turn 0.
void
PartShape::MakeIds(const Program& program)
{
    const auto steps = static_cast<uint32_t>(m_steps.size());
    const auto firstShared = std::partition_point(m_steps.begin(),
                                                  m_steps.end(),
                                                  [](const Step& step) { return !step.isShared; });
    m_ids = program.IsRotation() ? StepIds::OfRotation(steps, m_places)
            : program.IsRepetition()
                ? StepIds::OfRepetition(steps,
                                        static_cast<uint32_t>(firstShared - m_steps.begin()),
                                        program.repeat)
                : StepIds::OfTable(steps);
    for (Message& message : m_messages)
    {
        message.isAlone = m_steps[message.receiver].steps == 1;
        message.receiver = m_ids.GetFirst(message.receiver);
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
