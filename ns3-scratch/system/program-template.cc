/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/program-template.h"

#include "support/wide-arithmetic.h"
#include "system/step-order.h"

#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// Disjoint sets of members.
class DisjointSets
{
  public:
    explicit DisjointSets(uint32_t size)
        : m_parent(size)
    {
        std::iota(m_parent.begin(), m_parent.end(), 0U);
    }

    /// @return the smallest member of the set that contains a member
    uint32_t Find(uint32_t member)
    {
        while (m_parent[member] != member)
        {
            m_parent[member] = m_parent[m_parent[member]];
            member = m_parent[member];
        }
        return member;
    }

    void Unite(uint32_t a, uint32_t b)
    {
        a = Find(a);
        b = Find(b);
        m_parent[a > b ? a : b] = a > b ? b : a;
    }

  private:
    std::vector<uint32_t> m_parent;
};

} // namespace

ProgramTemplate::ProgramTemplate(const Program& program, const StepGroups& groups)
    : m_units(program.units),
      m_equalUnits(program.equalUnits),
      m_firstPlace(program.groupSize, NONE)
{
    std::vector<uint32_t> number(program.op.size()); // per step: its number in its part
    MakeParts(program, groups, number);
    MakeSteps(program, groups, number);
    m_origin = {};
    for (const Part& part : m_parts)
    {
        SortSteps(part);
    }
    SortSlices();
}

void
ProgramTemplate::MakeParts(const Program& program,
                           const StepGroups& groups,
                           std::vector<uint32_t>& number)
{
    m_origin.reserve(program.op.size());
    std::vector<uint32_t> first(program.stepBegin.begin(), program.stepBegin.end() - 1);
    // Per member: index of its last place in m_places.
    std::vector<uint32_t> lastPlace(program.groupSize, NONE);
    // Part of each set in the current phase, indexed by the smallest member of the set.
    std::vector<uint32_t> partOf(program.groupSize);
    for (uint32_t phase = 0; phase < program.phaseDimension.size(); ++phase)
    {
        // Find the members with steps in this phase, and the sets that exchange messages.
        DisjointSets sets(program.groupSize);
        std::vector<uint32_t> members;
        std::vector<uint32_t> last = first;
        for (uint32_t member = 0; member < program.groupSize; ++member)
        {
            uint32_t& s = last[member];
            for (; s < program.stepBegin[member + 1] && program.phase[s] == phase; ++s)
            {
                if (program.op[s] == StepOp::SEND)
                {
                    sets.Unite(member, program.peer[s]);
                }
            }
            if (s != first[member])
            {
                members.push_back(member);
            }
        }
        // Make one part per set, ordered by the smallest member of the set.
        std::vector<std::vector<uint32_t>> membersOf;
        for (const uint32_t member : members)
        {
            const uint32_t root = sets.Find(member);
            if (root == member)
            {
                partOf[root] = static_cast<uint32_t>(membersOf.size());
                membersOf.emplace_back();
            }
            membersOf[partOf[root]].push_back(member);
        }
        for (const std::vector<uint32_t>& set : membersOf)
        {
            Part part{};
            part.phase = phase;
            part.dimension = program.phaseDimension[phase];
            part.stepBegin = static_cast<uint32_t>(m_origin.size());
            part.memberBegin = static_cast<uint32_t>(m_places.size());
            for (const uint32_t member : set)
            {
                const auto place = static_cast<uint32_t>(m_places.size());
                if (lastPlace[member] == NONE)
                {
                    m_firstPlace[member] = place;
                    ++part.firsts;
                }
                else
                {
                    m_places[lastPlace[member]].next = place;
                }
                lastPlace[member] = place;
                m_places.push_back({.part = static_cast<uint32_t>(m_parts.size()),
                                    .member = member,
                                    .steps = last[member] - first[member],
                                    .next = NONE,
                                    .freeBegin = 0,
                                    .freeEnd = 0});
                for (uint32_t s = first[member]; s < last[member]; ++s)
                {
                    if (groups.IsFirst(s))
                    {
                        number[s] = static_cast<uint32_t>(m_origin.size()) - part.stepBegin;
                        m_origin.push_back(s);
                    }
                    number[s] = number[groups.GetFirst(s)];
                }
            }
            part.stepEnd = static_cast<uint32_t>(m_origin.size());
            part.memberEnd = static_cast<uint32_t>(m_places.size());
            m_parts.push_back(part);
        }
        first = std::move(last);
    }
}

void
ProgramTemplate::MakeSteps(const Program& program,
                           const StepGroups& groups,
                           const std::vector<uint32_t>& number)
{
    const std::size_t steps = m_origin.size();
    m_steps.reserve(steps);
    m_pending.resize(steps);
    // Calls f(step, dependency) with numbers in the part. Dependencies on earlier phases are
    // skipped, because they are done when the part starts. A dependency on a merged step counts
    // once.
    const auto forDependencies = [&](const Part& part, const auto& f) {
        for (uint32_t i = part.stepBegin; i < part.stepEnd; ++i)
        {
            const uint32_t s = m_origin[i];
            for (uint32_t d = program.depBegin[s]; d < program.depBegin[s + 1]; ++d)
            {
                const uint32_t dep = program.dep[d];
                if (program.phase[dep] == program.phase[s] && groups.IsFirst(dep))
                {
                    f(i - part.stepBegin, number[dep]);
                }
            }
        }
    };
    for (const Part& part : m_parts)
    {
        for (uint32_t p = part.memberBegin; p < part.memberEnd; ++p)
        {
            for (uint32_t left = m_places[p].steps; left != 0;)
            {
                AddStep(program, groups, number, p - part.memberBegin);
                Step& step = m_steps.back();
                step.member = m_places[p].member;
                left -= step.steps;
            }
        }
        Step* const own = m_steps.data() + part.stepBegin;
        forDependencies(part, [&](uint32_t step, uint32_t dep) {
            ++m_pending[part.stepBegin + step];
            own[step].isFree = false;
            ++own[dep].nextEnd;
        });
        auto begin = static_cast<uint32_t>(m_next.size()); // turn the counts into slices
        for (uint32_t i = part.stepBegin; i < part.stepEnd; ++i)
        {
            const uint32_t count = m_steps[i].nextEnd;
            m_steps[i].nextBegin = m_steps[i].nextEnd = begin;
            begin += count;
            if (m_pending[i] >= ONE_MESSAGE)
            {
                throw std::invalid_argument("a step of a program waits for " +
                                            std::to_string(m_pending[i]) + " others, but at most " +
                                            std::to_string(ONE_MESSAGE - 1) + " are accepted");
            }
            if (m_steps[i].op == StepOp::RECV || m_steps[i].op == StepOp::RECV_REDUCE)
            {
                m_pending[i] += m_steps[i].steps * ONE_MESSAGE;
            }
        }
        m_next.resize(begin);
        forDependencies(part,
                        [&](uint32_t step, uint32_t dep) { m_next[own[dep].nextEnd++] = step; });
        uint32_t i = part.stepBegin;
        for (uint32_t p = part.memberBegin; p < part.memberEnd; ++p)
        {
            m_places[p].freeBegin = static_cast<uint32_t>(m_free.size());
            for (; i < part.stepEnd && m_steps[i].place == p - part.memberBegin; ++i)
            {
                if (m_steps[i].isFree)
                {
                    ++m_pending[i];
                    m_free.push_back(i - part.stepBegin);
                }
            }
            m_places[p].freeEnd = static_cast<uint32_t>(m_free.size());
        }
    }
}

/// Append the next step with its messages. The step does not wait for other steps yet.
void
ProgramTemplate::AddStep(const Program& program,
                         const StepGroups& groups,
                         const std::vector<uint32_t>& number,
                         uint32_t place)
{
    const uint32_t first = m_origin[m_steps.size()];
    Step step{};
    step.place = place;
    step.peer = program.peer[first];
    step.offset = program.offset[first];
    step.count = program.count[first];
    step.order = first;
    step.op = program.op[first];
    step.isFree = true;
    step.messageBegin = static_cast<uint32_t>(m_messages.size());
    for (uint32_t s = first; s != StepGroups::NONE; s = groups.GetNext(s))
    {
        ++step.steps;
        if (step.op == StepOp::SEND)
        {
            m_messages.push_back({program.peer[s],
                                  number[program.target[s]],
                                  program.offset[s],
                                  program.count[s],
                                  program.route.empty() ? 0 : program.route[s],
                                  s});
        }
    }
    step.messageEnd = static_cast<uint32_t>(m_messages.size());
    m_steps.push_back(step);
}

/// Number the steps of a part in the order in which they become ready.
void
ProgramTemplate::SortSteps(const Part& part)
{
    const std::span steps =
        std::span(m_steps).subspan(part.stepBegin, part.stepEnd - part.stepBegin);
    const auto forEachAfter = [this, steps](uint32_t step, const auto& f) {
        for (uint32_t i = steps[step].messageBegin; i < steps[step].messageEnd; ++i)
        {
            f(m_messages[i].mate);
        }
        for (uint32_t i = steps[step].nextBegin; i < steps[step].nextEnd; ++i)
        {
            f(m_next[i]);
        }
    };
    std::vector<uint32_t> before(steps.size());
    for (uint32_t step = 0; step < steps.size(); ++step)
    {
        forEachAfter(step, [&before](uint32_t after) { ++before[after]; });
    }
    const std::vector<uint32_t> place = OrderByReadiness(std::move(before), forEachAfter);
    for (const Step& step : steps)
    {
        for (uint32_t i = step.messageBegin; i < step.messageEnd; ++i)
        {
            m_messages[i].mate = place[m_messages[i].mate];
        }
        for (uint32_t i = step.nextBegin; i < step.nextEnd; ++i)
        {
            m_next[i] = place[m_next[i]];
        }
    }
    for (uint32_t p = part.memberBegin; p < part.memberEnd; ++p)
    {
        for (uint32_t i = m_places[p].freeBegin; i < m_places[p].freeEnd; ++i)
        {
            m_free[i] = place[m_free[i]];
        }
    }
    MoveTo(steps, place);
    MoveTo(std::span(m_pending).subspan(part.stepBegin, steps.size()), place);
}

/// Store messages and waiting steps in the order of their steps.
void
ProgramTemplate::SortSlices()
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

ProgramTemplate::UnitSize
ProgramTemplate::GetUnitSize(uint64_t chunkBytes) const
{
    const uint64_t whole = chunkBytes / m_units;
    const uint64_t rest = chunkBytes % m_units;
    if (m_equalUnits && rest != 0)
    {
        return {whole + 1, 0};
    }
    return {whole, rest};
}

uint64_t
ProgramTemplate::GetSentBytes(uint64_t chunkBytes) const
{
    const UnitSize size = GetUnitSize(chunkBytes);
    uint64_t sum = 0;
    for (const Message& message : m_messages)
    {
        sum += GetBytes(size, message.offset, message.count);
    }
    return sum;
}

uint64_t
GetChunkBytes(uint64_t bytes, uint32_t chunks, uint32_t chunk)
{
    return MultiplyDivide(uint64_t{chunk} + 1, bytes, chunks) -
           MultiplyDivide(chunk, bytes, chunks);
}

} // namespace cosim
