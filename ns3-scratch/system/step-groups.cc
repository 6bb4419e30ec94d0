/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/step-groups.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <unordered_map>

namespace cosim
{

namespace
{

/**
 * Lists for each step its neighbours in the same phase: the steps that it waits for, or the steps
 * that wait for it.
 */
class Neighbours
{
  public:
    /**
     * @param program the program
     * @param after true for the steps that wait for it, false for the steps that it waits for
     */
    Neighbours(const Program& program, bool after)
        : m_begin(program.op.size() + 1)
    {
        ForEach(program, after, [this](uint32_t step, uint32_t) { ++m_begin[step + 1]; });
        std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
        m_steps.resize(m_begin.back());
        std::vector<uint32_t> end(m_begin.begin(), m_begin.end() - 1);
        ForEach(program, after, [this, &end](uint32_t step, uint32_t other) {
            m_steps[end[step]++] = other;
        });
    }

    std::span<const uint32_t> Of(uint32_t step) const
    {
        return std::span(m_steps).subspan(m_begin[step], m_begin[step + 1] - m_begin[step]);
    }

  private:
    template <typename Function>
    static void ForEach(const Program& program, bool after, const Function& function)
    {
        for (uint32_t step = 0; step < program.op.size(); ++step)
        {
            for (uint32_t d = program.depBegin[step]; d < program.depBegin[step + 1]; ++d)
            {
                const uint32_t dep = program.dep[d];
                if (program.phase[dep] == program.phase[step])
                {
                    after ? function(dep, step) : function(step, dep);
                }
            }
        }
    }

    std::vector<uint32_t> m_begin;
    std::vector<uint32_t> m_steps;
};

/// @return a hash of the neighbours, the operation and the phase of a step
uint64_t
Hash(std::span<const uint32_t> steps, StepOp op, uint32_t phase)
{
    // The highest bit keeps this from zero, to which step 0 would add nothing.
    uint64_t hash = uint64_t{1} << 63 | uint64_t{phase} << 8 | static_cast<uint64_t>(op);
    for (const uint32_t step : steps)
    {
        hash = (hash ^ step) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 29;
    }
    return hash;
}

/// The group to which the next matching step is added.
struct Open
{
    uint32_t first;
    uint32_t last;
    uint32_t steps;
};

} // namespace

StepGroups::StepGroups(const Program& program)
    : m_first(program.op.size()),
      m_next(program.op.size(), NONE)
{
    std::iota(m_first.begin(), m_first.end(), 0U);
}

void
StepGroups::Form(const Program& program, bool withReductions)
{
    const Neighbours before(program, false);
    const Neighbours after(program, true);
    m_isAlone.resize(program.op.size());
    std::unordered_map<uint64_t, Open> groups; // the groups of one member
    for (std::size_t member = 0; member + 1 < program.stepBegin.size(); ++member)
    {
        groups.clear();
        for (uint32_t s = program.stepBegin[member]; s < program.stepBegin[member + 1]; ++s)
        {
            const StepOp op = program.op[s];
            const bool sends = op == StepOp::SEND;
            const bool receives =
                op == StepOp::RECV || (op == StepOp::RECV_REDUCE && withReductions);
            if (!(sends && after.Of(s).empty()) && !(receives && before.Of(s).empty()))
            {
                continue;
            }
            const Neighbours& kind = sends ? before : after;
            const std::span<const uint32_t> own = kind.Of(s);
            m_isAlone[s] = own.empty();
            const auto [known, isNew] =
                groups.try_emplace(Hash(own, op, program.phase[s]), Open{s, s, 1});
            Open& group = known->second;
            if (isNew)
            {
                continue;
            }
            const uint32_t first = group.first;
            const std::span<const uint32_t> theirs = kind.Of(first);
            if (group.steps == MAX_STEPS || program.op[first] != op ||
                program.phase[first] != program.phase[s] ||
                !std::equal(own.begin(), own.end(), theirs.begin(), theirs.end()))
            {
                group = {s, s, 1};
                continue;
            }
            m_first[s] = first;
            m_next[group.last] = s;
            group.last = s;
            ++group.steps;
        }
    }
}

} // namespace cosim
