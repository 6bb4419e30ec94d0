/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/program-validator.h"

#include "stream/piece-validator.h"
#include "stream/validation.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

/// More levels than a program of 2^32 members can have.
constexpr uint32_t MOST_LEVELS = 32;

/// Checks one program. Its error messages start with the id of the program.
class ProgramValidator
{
  public:
    ProgramValidator(const Program& program, const Topology& topology)
        : m_program(program),
          m_where("program " + std::to_string(program.id) + ": "),
          m_member(program.op.size())
    {
        ValidateHead(topology);
        if (!program.pieces.empty())
        {
            RequireNoSteps();
            return;
        }
        ValidateArrays();
        if (program.IsRepetition())
        {
            ValidateRepetition();
        }
        for (uint32_t member = 0; member + 1 < program.stepBegin.size(); ++member)
        {
            for (uint32_t i = program.stepBegin[member]; i < program.stepBegin[member + 1]; ++i)
            {
                m_member[i] = member;
                Require(i == program.stepBegin[member] || program.phase[i - 1] <= program.phase[i],
                        m_where,
                        "the steps of member ",
                        member,
                        " are not sorted by phase");
            }
        }
        for (uint32_t i = 0; i < program.op.size(); ++i)
        {
            ValidateStep(i);
        }
        if (program.IsRotation())
        {
            ValidateRotation();
        }
    }

    /// @return the end of the units that the steps access
    uint64_t GetReach() const
    {
        return m_reach;
    }

  private:
    void ValidateHead(const Topology& topology) const
    {
        const Program& p = m_program;
        Require(p.groupSize >= 1, m_where, "group_size is 0, but at least 1 is needed");
        Require(p.groupSize <= topology.ranks,
                m_where,
                "group_size is ",
                p.groupSize,
                ", but the topology has ",
                topology.ranks,
                " ranks");
        Require(p.units >= 1 && p.space >= p.units,
                m_where,
                "units is ",
                p.units,
                " and space ",
                p.space,
                ", but 1 ≤ units ≤ space is expected");
        for (const uint32_t dimension : p.phaseDimension)
        {
            Require(dimension < topology.dimensions.size(),
                    m_where,
                    "phase_dimension holds ",
                    dimension,
                    ", but the topology has ",
                    topology.dimensions.size(),
                    " dimensions");
        }
        if (!p.phaseLevel.empty())
        {
            RequireLength(p.phaseLevel.size(), p.phaseDimension.size(), m_where + "phase_level");
        }
        for (const uint32_t level : p.phaseLevel)
        {
            Require(level < MOST_LEVELS,
                    m_where,
                    "phase_level holds ",
                    level,
                    ", but less than ",
                    MOST_LEVELS,
                    " is expected");
        }
    }

    void RequireNoSteps() const
    {
        const Program& p = m_program;
        for (const auto* array : {&p.stepBegin,
                                  &p.phase,
                                  &p.peer,
                                  &p.offset,
                                  &p.count,
                                  &p.target,
                                  &p.depBegin,
                                  &p.dep,
                                  &p.route,
                                  &p.offsetTurn,
                                  &p.targetTurn})
        {
            Require(array->empty() && p.op.empty() && !p.IsRepetition(),
                    m_where,
                    "it has pieces as well as steps");
        }
    }

    void ValidateArrays() const
    {
        const Program& p = m_program;
        const std::size_t steps = p.op.size();
        RequireSlices(p.stepBegin, p.IsRotation() ? 1 : p.groupSize, steps, m_where + "step_begin");
        RequireLength(p.phase.size(), steps, m_where + "phase");
        RequireLength(p.peer.size(), steps, m_where + "peer");
        RequireLength(p.offset.size(), steps, m_where + "offset");
        RequireLength(p.count.size(), steps, m_where + "count");
        RequireLength(p.target.size(), steps, m_where + "target");
        RequireLength(p.route.size(), p.route.empty() ? 0 : steps, m_where + "route");
        RequireLength(p.offsetTurn.size(), p.IsRotation() ? steps : 0, m_where + "offset_turn");
        RequireLength(p.targetTurn.size(), p.IsRotation() ? steps : 0, m_where + "target_turn");
        RequireSlices(p.depBegin, steps, p.dep.size(), m_where + "dep_begin");
    }

    /// Check that the members of a rotation are connected, and that its steps can be numbered.
    void ValidateRotation() const
    {
        const Program& p = m_program;
        Require(p.phaseDimension.size() == 1,
                m_where,
                "a rotation has ",
                p.phaseDimension.size(),
                " phases, but 1 is expected");
        Require(p.op.size() * std::bit_ceil(p.groupSize) <= MAX_STEPS,
                m_where,
                p.op.size(),
                " steps of each of ",
                p.groupSize,
                " members are more than the ",
                MAX_STEPS,
                " that are accepted");
        uint32_t common = p.groupSize;
        for (uint32_t i = 0; i < p.op.size(); ++i)
        {
            common = p.op[i] == StepOp::SEND ? std::gcd(common, p.peer[i]) : common;
        }
        Require(common == 1,
                m_where,
                "the members of a rotation exchange messages in ",
                common,
                " separate groups, but 1 is expected");
    }

    /// Check that the steps of a repetition can be numbered.
    void ValidateRepetition() const
    {
        const Program& p = m_program;
        Require(!p.IsRotation() && p.phaseDimension.size() == 1 && p.repeatStep >= 1,
                m_where,
                "a repetition has ",
                p.phaseDimension.size(),
                " phases and repeat_step ",
                p.repeatStep,
                ", but 1 phase, at least 1 and no turns are expected");
        const uint64_t steps = std::max<uint64_t>(p.op.size(), 2);
        Require(steps <= MAX_STEPS && std::bit_ceil(steps) <= MAX_STEPS / p.repeat,
                m_where,
                p.repeat,
                " repetitions of ",
                p.op.size(),
                " steps are more than the ",
                MAX_STEPS,
                " that are accepted");
    }

    /// Check that units are in the space, for all members and repetitions.
    template <typename Where>
    void ValidateUnits(uint32_t first, uint32_t count, uint32_t turn, const Where& where)
    {
        uint64_t last = first; // the largest address
        if (turn != 0)
        {
            const uint64_t region = uint64_t{m_program.groupSize} * turn;
            last = first - first % region + region - turn + first % turn;
        }
        last += uint64_t{m_program.GetRepeats() - 1} * m_program.repeatStep;
        // A region must be in the space even if no unit is accessed.
        const uint64_t end = std::max(last + count, turn == 0 ? last : last - first % turn + turn);
        if (end > m_program.space)
        {
            Refuse(where(), " reaches past the ", m_program.space, " units of its space");
        }
        m_reach = std::max(m_reach, end);
    }

    void ValidateStep(uint32_t i)
    {
        const Program& p = m_program;
        const auto where = [this, i] { return m_where + "step " + std::to_string(i); };
        if (p.phase[i] >= p.phaseDimension.size())
        {
            Refuse(where(),
                   " has phase ",
                   p.phase[i],
                   ", but the program has ",
                   p.phaseDimension.size(),
                   " phases");
        }
        ValidateUnits(p.offset[i], p.count[i], p.IsRotation() ? p.offsetTurn[i] : 0, where);
        switch (p.op[i])
        {
        case StepOp::SEND:
        case StepOp::RECV:
        case StepOp::RECV_REDUCE:
            ValidateMessage(i, where);
            break;
        case StepOp::COPY:
        case StepOp::REDUCE:
            ValidateUnits(p.target[i], p.count[i], p.IsRotation() ? p.targetTurn[i] : 0, where);
        }
        for (uint32_t d = p.depBegin[i]; d < p.depBegin[i + 1]; ++d)
        {
            const uint32_t dep = p.dep[d];
            if (dep >= p.op.size() || m_member[dep] != m_member[i] || p.phase[dep] > p.phase[i])
            {
                Refuse(where(),
                       " depends on step ",
                       dep,
                       ", but a dependency must be a step of the same member in the same or an "
                       "earlier phase");
            }
        }
    }

    template <typename Where>
    void ValidateMessage(uint32_t i, const Where& where) const
    {
        const Program& p = m_program;
        const uint32_t matching = p.target[i];
        if (p.peer[i] >= p.groupSize || p.peer[i] == m_member[i])
        {
            Refuse(where(),
                   " has peer ",
                   p.peer[i],
                   ", but another member of a group of ",
                   p.groupSize,
                   " is expected");
        }
        const bool isSend = p.op[i] == StepOp::SEND;
        const auto isMatch = [&] {
            const bool opposite =
                isSend ? p.op[matching] == StepOp::RECV || p.op[matching] == StepOp::RECV_REDUCE
                       : p.op[matching] == StepOp::SEND;
            const bool isPeer =
                p.IsRotation() ? (uint64_t{p.peer[i]} + p.peer[matching]) % p.groupSize == 0
                               : m_member[matching] == p.peer[i] && p.peer[matching] == m_member[i];
            return opposite && p.target[matching] == i && isPeer;
        };
        if (matching >= p.op.size() || !isMatch())
        {
            Refuse(where(),
                   isSend ? " sends to step " : " receives from step ",
                   matching,
                   ", which does not match it");
        }
        if (p.phase[matching] != p.phase[i])
        {
            Refuse(where(), " and the matching step ", matching, " are in different phases");
        }
        if (p.count[matching] != p.count[i])
        {
            Refuse(where(), " and the matching step ", matching, " have different counts of units");
        }
    }

    const Program& m_program;
    const std::string m_where;
    std::vector<uint32_t> m_member; //!< per step: the member that it belongs to
    uint64_t m_reach{0};
};

} // namespace

void
ValidatePrograms(const std::vector<Program>& programs, const Topology& topology)
{
    std::vector<uint64_t> reach;
    for (const Program& program : programs)
    {
        reach.push_back(ProgramValidator(program, topology).GetReach());
        ValidatePieces(programs, program, reach);
    }
}

} // namespace cosim
