/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-fields.h"
#include "stream/validators.h"
#include "support/disjoint-sets.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// The largest number of steps of all members of a program.
constexpr uint64_t MAX_STEPS = ~uint32_t{0};

/// The largest number of members in all groups of all pieces of a program.
constexpr uint64_t MAX_PIECE_MEMBERS = uint64_t{1} << 26;

/// Checks one program. Its error messages start with the id of the program.
class ProgramValidator
{
  public:
    ProgramValidator(const Program& program, const Stream& stream)
        : m_program(program),
          m_where("program " + std::to_string(program.id) + ": "),
          m_member(program.op.size())
    {
        ValidateHead(stream.topology);
        if (!program.pieces.empty())
        {
            RequireNoSteps();
        }
        CheckLimits(stream, program, m_where);
        if (!program.pieces.empty())
        {
            return;
        }
        RequireTurns();
        RequireSlices(program.stepBegin,
                      program.GetBlock(),
                      program.op.size(),
                      {m_where, "step_begin"});
        RequireSlices(program.depBegin,
                      program.op.size(),
                      program.dep.size(),
                      {m_where, "dep_begin"});
        if (program.IsRepetition())
        {
            ValidateRepetition();
        }
        for (uint32_t member = 0; member + 1 < program.stepBegin.size(); ++member)
        {
            for (uint32_t i = program.stepBegin[member]; i < program.stepBegin[member + 1]; ++i)
            {
                m_member[i] = member;
                if (!(i == program.stepBegin[member] || program.phase[i - 1] <= program.phase[i]))
                {
                    Refuse("{}the steps of member {} are not sorted by phase", {m_where, member});
                }
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
        Require(p.groupSize >= 1, "{}group_size is 0, but at least 1 is needed", {m_where});
        // Each rank is a member once; a switch is one of each group that it serves.
        const uint64_t switches = topology.GetEndpoints() - topology.ranks;
        Require(p.groupSize <= topology.ranks * (1 + switches),
                "{}group_size is {}, but the topology has {} ranks",
                {m_where, p.groupSize, topology.ranks});
        Require(p.units >= 1 && p.space >= p.units,
                "{}units is {} and space {}, but 1 ≤ units ≤ space is expected",
                {m_where, p.units, p.space});
    }

    void RequireNoSteps() const
    {
        const Program& p = m_program;
        for (const auto* list : {&p.stepBegin,
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
            Require(list->empty() && p.op.empty() && !p.IsRepetition(),
                    "{}it has pieces as well as steps",
                    {m_where});
        }
    }

    /// Check that the members with steps divide the others.
    void RequireTurns() const
    {
        const Program& p = m_program;
        Require(!p.IsRotation() ||
                    (p.stepBegin.size() > 1 && p.groupSize % (p.stepBegin.size() - 1) == 0),
                "{}step_begin of a rotation has {} entries, but one more than a divisor of the {} "
                "members is expected",
                {m_where, p.stepBegin.size(), p.groupSize});
    }

    /// Check that the members of a rotation are connected, and that its steps can be numbered.
    void ValidateRotation() const
    {
        const Program& p = m_program;
        Require(p.phaseDimension.size() == 1,
                "{}a rotation has {} phases, but 1 is expected",
                {m_where, p.phaseDimension.size()});
        Require(p.op.size() * std::bit_ceil(p.GetTurns()) <= MAX_STEPS,
                "{}{} turns of {} steps are more than the {} that are accepted",
                {m_where, p.GetTurns(), p.op.size(), MAX_STEPS});
        const uint32_t groups = CountGroups();
        Require(groups == 1,
                "{}the members of a rotation exchange messages in {} separate groups, but 1 is "
                "expected",
                {m_where, groups});
    }

    /// @return the number of sets of members of a rotation that exchange messages
    uint32_t CountGroups() const
    {
        const Program& p = m_program;
        DisjointSets sets(p.groupSize);
        uint32_t groups = p.groupSize;
        std::pair<uint32_t, uint32_t> last{p.groupSize, 0};
        for (uint32_t i = 0; i < p.op.size() && groups > 1; ++i)
        {
            const std::pair<uint32_t, uint32_t> ends(m_member[i], p.peer[i]);
            if (p.op[i] != StepOp::SEND || ends == last)
            {
                continue;
            }
            last = ends;
            for (uint64_t moved = 0; moved < p.groupSize; moved += p.GetBlock())
            {
                const auto peer = static_cast<uint32_t>((moved + ends.second) % p.groupSize);
                groups -= sets.Unite(ends.first + static_cast<uint32_t>(moved), peer) ? 1 : 0;
            }
        }
        return groups;
    }

    /// Check that the steps of a repetition can be numbered.
    void ValidateRepetition() const
    {
        const Program& p = m_program;
        Require(!p.IsRotation() && p.phaseDimension.size() == 1 && p.repeatStep >= 1,
                "{}a repetition has {} phases and repeat_step {}, but 1 phase, at least 1 and no "
                "turns are expected",
                {m_where, p.phaseDimension.size(), p.repeatStep});
        const uint64_t steps = std::max<uint64_t>(p.op.size(), 2);
        Require(steps <= MAX_STEPS && std::bit_ceil(steps) <= MAX_STEPS / p.repeat,
                "{}{} repetitions of {} steps are more than the {} that are accepted",
                {m_where, p.repeat, p.op.size(), MAX_STEPS});
    }

    /// Check that units of a step are in the space, for all members and repetitions.
    void ValidateUnits(uint32_t step, uint32_t first, uint32_t turn)
    {
        const uint32_t count = m_program.count[step];
        uint64_t last = first; // the largest address
        if (turn != 0)
        {
            const uint64_t region = uint64_t{m_program.GetTurns()} * turn;
            last = first - first % region + region - turn + first % turn;
        }
        last += uint64_t{m_program.GetRepeats() - 1} * m_program.repeatStep;
        // A region must be in the space even if no unit is accessed.
        const uint64_t end = std::max(last + count, turn == 0 ? last : last - first % turn + turn);
        if (end > m_program.space)
        {
            Refuse("{}step {} reaches past the {} units of its space",
                   {m_where, step, m_program.space});
        }
        m_reach = std::max(m_reach, end);
    }

    void ValidateStep(uint32_t i)
    {
        const Program& p = m_program;
        ValidateUnits(i, p.offset[i], p.IsRotation() ? p.offsetTurn[i] : 0);
        switch (p.op[i])
        {
        case StepOp::SEND:
        case StepOp::RECV:
        case StepOp::RECV_REDUCE:
            ValidateMessage(i);
            break;
        case StepOp::COPY:
        case StepOp::REDUCE:
            ValidateUnits(i, p.target[i], p.IsRotation() ? p.targetTurn[i] : 0);
        }
        for (uint32_t d = p.depBegin[i]; d < p.depBegin[i + 1]; ++d)
        {
            const uint32_t dep = p.dep[d];
            if (!(dep < p.op.size() && m_member[dep] == m_member[i] && p.phase[dep] <= p.phase[i]))
            {
                Refuse("{}step {} depends on step {}, but a dependency must be a step of the same "
                       "member in the same or an earlier phase",
                       {m_where, i, dep});
            }
        }
    }

    void ValidateMessage(uint32_t i) const
    {
        const Program& p = m_program;
        const uint32_t matching = p.target[i];
        if (p.peer[i] >= p.groupSize || p.peer[i] == m_member[i])
        {
            Refuse("{}step {} has peer {}, but another member of a group of {} is expected",
                   {m_where, i, p.peer[i], p.groupSize});
        }
        const bool isSend = p.op[i] == StepOp::SEND;
        const auto isMatch = [&] {
            const bool opposite =
                isSend ? p.op[matching] == StepOp::RECV || p.op[matching] == StepOp::RECV_REDUCE
                       : p.op[matching] == StepOp::SEND;
            // the member of the matching step is turned to the peer, and its peer with it
            const uint32_t member = p.peer[i] % p.GetBlock();
            const uint64_t back = uint64_t{p.peer[matching]} + p.peer[i] - member;
            return opposite && p.target[matching] == i && m_member[matching] == member &&
                   back % p.groupSize == m_member[i];
        };
        if (matching >= p.op.size() || !isMatch())
        {
            Refuse("{}step {} {} step {}, which does not match it",
                   {m_where, i, isSend ? "sends to" : "receives from", matching});
        }
        if (p.phase[matching] != p.phase[i])
        {
            Refuse("{}step {} and the matching step {} are in different phases",
                   {m_where, i, matching});
        }
        if (p.count[matching] != p.count[i])
        {
            Refuse("{}step {} and the matching step {} have different counts of units",
                   {m_where, i, matching});
        }
    }

    const Program& m_program;
    const std::string m_where;
    std::vector<uint32_t> m_member; //!< per step: the member that it belongs to
    uint64_t m_reach{0};
};

/**
 * Check the pieces of a program.
 *
 * @param programs the programs of the stream
 * @param whole the program
 * @param reach per earlier program: the end of the units that its steps access
 */
void
ValidatePieces(const std::vector<Program>& programs,
               const Program& whole,
               const std::vector<uint64_t>& reach)
{
    std::vector<uint32_t> busy(whole.groupSize); // per member: the first phase that it is free in
    uint64_t members = 0;
    uint64_t steps = 0;
    for (std::size_t i = 0; i < whole.pieces.size(); ++i)
    {
        const Piece& piece = whole.pieces[i];
        const std::string where =
            "program " + std::to_string(whole.id) + ": piece " + std::to_string(i);
        Require(piece.program < whole.id && programs[piece.program].pieces.empty(),
                "{} has program {}, but an earlier one with steps is expected",
                {where, piece.program});
        const Program& part = programs[piece.program];
        Require(part.units == whole.units && part.space == whole.space &&
                    part.equalUnits == whole.equalUnits,
                "{} has other units than the program",
                {where});
        Require(uint64_t{piece.phase} + part.phaseDimension.size() <= whole.phaseDimension.size(),
                "{} ends after the {} phases of the program",
                {where, whole.phaseDimension.size()});
        Require(i == 0 || whole.pieces[i - 1].phase <= piece.phase,
                "{} begins in an earlier phase than the piece before",
                {where});
        Require(piece.groups >= 1 && piece.groups <= whole.groupSize && piece.memberStep >= 1,
                "{} has {} groups and member_step {}, but 1 … {} groups and a step of at least 1 "
                "are expected",
                {where, piece.groups, piece.memberStep, whole.groupSize});
        Require(uint64_t{piece.first} + uint64_t{piece.groups - 1} * piece.groupStep +
                        uint64_t{part.groupSize - 1} * piece.memberStep <
                    whole.groupSize,
                "{} has members beyond the {} of the program",
                {where, whole.groupSize});
        Require(reach[piece.program] + uint64_t{piece.groups - 1} * piece.unitStep <= whole.space,
                "{} reaches past the {} units of the program's space",
                {where, whole.space});
        members += uint64_t{piece.groups} * part.groupSize;
        steps += part.op.size() * part.GetRepeats();
        Require(members <= MAX_PIECE_MEMBERS && steps <= MAX_STEPS,
                "{}: the pieces have more than the {} members or {} steps that are accepted",
                {where, MAX_PIECE_MEMBERS, MAX_STEPS});
        for (uint32_t group = 0; group < piece.groups; ++group)
        {
            for (uint32_t m = 0; m < part.groupSize; ++m)
            {
                uint32_t& free = busy[piece.GetMember(group, m)];
                if (free > piece.phase)
                {
                    Refuse("{}: member {} is in two groups in phase {}",
                           {where, piece.GetMember(group, m), piece.phase});
                }
                free = piece.phase + static_cast<uint32_t>(part.phaseDimension.size());
            }
        }
    }
}

} // namespace

void
ValidatePrograms(const Stream& stream)
{
    std::vector<uint64_t> reach;
    for (const Program& program : stream.programs)
    {
        reach.push_back(ProgramValidator(program, stream).GetReach());
        ValidatePieces(stream.programs, program, reach);
    }
}

} // namespace cosim
