/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "symmetry/member-steps.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// @return the number of steps of all members of a program
uint64_t
CountSteps(const std::vector<Program>& programs, const Program& program)
{
    uint64_t steps = uint64_t{program.op.size()} * program.GetRepeats();
    steps *= program.GetTurns();
    for (const Piece& piece : program.pieces)
    {
        steps += piece.groups * CountSteps(programs, programs[piece.program]);
    }
    return steps;
}

} // namespace

std::optional<MemberSteps>
MemberSteps::List(const std::vector<Program>& programs, uint32_t program)
{
    const Program& what = programs[program];
    if (CountSteps(programs, what) > MOST)
    {
        return std::nullopt;
    }
    MemberSteps steps;
    steps.m_steps.resize(what.groupSize);
    if (what.pieces.empty())
    {
        steps.AddOwn(what);
    }
    else if (!steps.AddPieces(programs, what))
    {
        return std::nullopt;
    }
    return steps;
}

/// Add the steps of a program without pieces.
void
MemberSteps::AddOwn(const Program& program)
{
    const uint32_t block = program.GetBlock();
    for (uint32_t member = 0; member < program.groupSize; ++member)
    {
        const uint32_t own = member % block;
        const uint32_t begin = program.stepBegin[own];
        const uint32_t end = program.stepBegin[own + 1];
        for (uint32_t turn = 0; turn < program.GetRepeats(); ++turn)
        {
            for (uint32_t s = begin; s < end; ++s)
            {
                Step step{.op = program.op[s],
                          .phase = program.phase[s],
                          .count = program.count[s],
                          .route = program.route.empty() ? 0 : program.route[s]};
                if (step.HasPeer())
                {
                    step.peer = (program.peer[s] + member - own) % program.groupSize;
                }
                if (step.op == StepOp::SEND)
                {
                    const uint32_t owner = program.GetOwner(program.target[s]);
                    const uint32_t first = program.stepBegin[owner];
                    step.target =
                        program.target[s] - first + turn * (program.stepBegin[owner + 1] - first);
                }
                for (uint32_t d = program.depBegin[s]; d < program.depBegin[s + 1]; ++d)
                {
                    step.deps.push_back(program.dep[d] - begin + turn * (end - begin));
                }
                m_steps[member].push_back(std::move(step));
            }
        }
    }
}

/// Add the steps of a composition. @return whether they have the same parts as a table
bool
MemberSteps::AddPieces(const std::vector<Program>& programs, const Program& program)
{
    std::vector<Piece> pieces = program.pieces;
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
        return a.phase < b.phase;
    });
    return std::ranges::all_of(pieces, [&](const Piece& piece) {
        const std::optional<MemberSteps> own = List(programs, piece.program);
        return own && AddPiece(*own, piece);
    });
}

/// Add the steps of the groups of a piece behind those of pieces in earlier phases.
bool
MemberSteps::AddPiece(const MemberSteps& own, const Piece& piece)
{
    std::vector<uint32_t> before(m_steps.size()); // per member: its steps in other pieces
    for (uint32_t member = 0; member < m_steps.size(); ++member)
    {
        before[member] = static_cast<uint32_t>(m_steps[member].size());
    }
    for (uint32_t group = 0; group < piece.groups; ++group)
    {
        for (uint32_t m = 0; m < own.GetMembers(); ++m)
        {
            const uint32_t member = piece.GetMember(group, m);
            std::vector<Step>& steps = m_steps[member];
            if (steps.size() != before[member])
            {
                return false; // it is in two groups
            }
            for (Step step : own.Of(m))
            {
                step.phase += piece.phase;
                step.peer = step.HasPeer() ? piece.GetMember(group, step.peer) : 0;
                step.target += step.op == StepOp::SEND ? before[step.peer] : 0;
                for (uint32_t& dep : step.deps)
                {
                    dep += before[member];
                }
                if (before[member] > 0 && step.phase <= steps[before[member] - 1].phase)
                {
                    return false; // two parts of a member would be one
                }
                steps.push_back(std::move(step));
            }
        }
    }
    return true;
}

bool
MemberSteps::IsSameFor(std::span<const uint32_t> image) const
{
    for (uint32_t member = 0; member < m_steps.size(); ++member)
    {
        const auto isSame = [image](const Step& a, const Step& b) {
            return a.op == b.op && a.phase == b.phase && a.count == b.count && a.route == b.route &&
                   a.target == b.target && a.deps == b.deps &&
                   (!a.HasPeer() || image[a.peer] == b.peer);
        };
        if (!std::ranges::equal(Of(member), Of(image[member]), isSame))
        {
            return false;
        }
    }
    return true;
}

} // namespace cosim
