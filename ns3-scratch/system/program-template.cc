/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "system/program-template.h"

#include "support/disjoint-sets.h"
#include "support/wide-arithmetic.h"
#include "system/step-groups.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace cosim
{

namespace
{

/**
 * Divide the members with steps in a phase into sets that exchange messages.
 *
 * @param program a table
 * @param ranges per member: its steps in the phase
 * @return the sets, ordered by their smallest member
 */
std::vector<std::vector<uint32_t>>
FindSets(const Program& program, const std::vector<PartShape::StepRange>& ranges)
{
    DisjointSets sets(program.groupSize);
    for (uint32_t member = 0; member < program.groupSize; ++member)
    {
        for (uint32_t s = ranges[member].begin; s < ranges[member].end; ++s)
        {
            if (program.op[s] == StepOp::SEND)
            {
                sets.Unite(member,
                           program.mirrors == 0 ? program.peer[s]
                                                : program.GetOwner(program.target[s]));
            }
        }
    }
    std::vector<std::vector<uint32_t>> membersOf;
    std::vector<uint32_t> setOf(program.groupSize); // indexed by the smallest member of the set
    for (uint32_t member = 0; member < program.groupSize; ++member)
    {
        if (ranges[member].begin == ranges[member].end)
        {
            continue;
        }
        const uint32_t root = sets.Find(member);
        if (root == member)
        {
            setOf[root] = static_cast<uint32_t>(membersOf.size());
            membersOf.emplace_back();
        }
        membersOf[setOf[root]].push_back(member);
    }
    return membersOf;
}

/// @return the pieces of a program; a program with steps is one piece of its own
std::vector<Piece>
GetPieces(const Program& program)
{
    if (!program.pieces.empty())
    {
        return program.pieces;
    }
    Piece whole;
    whole.program = program.id;
    whole.groups = 1;
    whole.memberStep = 1;
    return {whole};
}

} // namespace

ProgramTemplate::ProgramTemplate(const std::vector<Program>& programs,
                                 uint32_t program,
                                 bool merges,
                                 bool mergesReductions)
    : m_units(programs[program].units),
      m_equalUnits(programs[program].equalUnits),
      m_protocol(programs[program].protocol),
      m_firstPlace(programs[program].groupSize - programs[program].mirrors, NONE)
{
    const std::vector<Piece> pieces = GetPieces(programs[program]);
    std::map<uint32_t, std::vector<OwnPart>> known; // keyed by program
    std::vector<GroupPart> parts;
    uint32_t order = 0;
    for (const Piece& piece : pieces)
    {
        const Program& own = programs[piece.program];
        const auto [found, isNew] = known.try_emplace(piece.program);
        if (isNew)
        {
            found->second = MakeOwnParts(own, merges, mergesReductions);
        }
        for (const OwnPart& part : found->second)
        {
            for (uint32_t group = 0; group < piece.groups; ++group)
            {
                parts.push_back({&part,
                                 &piece,
                                 group,
                                 piece.phase + part.phase,
                                 piece.GetMember(group, part.members.front()),
                                 order});
            }
        }
        order += static_cast<uint32_t>(own.op.size()) * own.GetRepeats();
    }
    std::sort(parts.begin(), parts.end(), [](const GroupPart& a, const GroupPart& b) {
        return std::tie(a.phase, a.firstMember) < std::tie(b.phase, b.firstMember);
    });
    AddParts(programs[program], parts);
}

std::vector<ProgramTemplate::OwnPart>
ProgramTemplate::MakeOwnParts(const Program& program, bool merges, bool mergesReductions)
{
    StepGroups groups(program);
    if (merges)
    {
        groups.Form(program, mergesReductions);
    }
    PartShape::Source source{program, groups};
    std::vector<OwnPart> parts;
    const auto add = [&](uint32_t phase) -> OwnPart& {
        parts.push_back({phase, static_cast<uint32_t>(m_shapes.size()), {}, {}});
        m_shapes.emplace_back(source);
        return parts.back();
    };
    if (program.IsRotation())
    {
        for (uint32_t member = 0; member < program.GetBlock(); ++member)
        {
            source.steps.push_back({program.stepBegin[member], program.stepBegin[member + 1]});
        }
        OwnPart& part = add(0);
        part.members.resize(program.groupSize);
        std::iota(part.members.begin(), part.members.end(), 0U);
        for (const uint32_t member : part.members)
        {
            const PartShape::StepRange& own = source.steps[member % program.GetBlock()];
            part.steps.push_back(own.end - own.begin);
        }
        return parts;
    }
    source.placeOf.resize(program.groupSize);
    std::vector<PartShape::StepRange> ranges(program.groupSize);
    for (uint32_t phase = 0; phase < program.phaseDimension.size(); ++phase)
    {
        for (uint32_t member = 0; member < program.groupSize; ++member)
        {
            PartShape::StepRange& own = ranges[member];
            own.begin = own.end = phase == 0 ? program.stepBegin[member] : own.end;
            while (own.end < program.stepBegin[member + 1] && program.phase[own.end] == phase)
            {
                ++own.end;
            }
        }
        for (std::vector<uint32_t>& members : FindSets(program, ranges))
        {
            source.steps.clear();
            std::vector<uint32_t> counts;
            for (const uint32_t member : members)
            {
                source.placeOf[member] = static_cast<uint32_t>(counts.size());
                source.steps.push_back(ranges[member]);
                counts.push_back((ranges[member].end - ranges[member].begin) *
                                 program.GetRepeats());
            }
            const auto left = static_cast<uint32_t>(members.size());
            for (uint32_t i = 0; i < program.mirrors; ++i)
            {
                members.push_back(program.groupSize - program.mirrors + i);
                source.placeOf[members.back()] = left + i;
            }
            OwnPart& part = add(phase);
            part.members = std::move(members);
            part.steps = std::move(counts);
        }
    }
    return parts;
}

void
ProgramTemplate::AddParts(const Program& program, const std::vector<GroupPart>& parts)
{
    std::vector<uint32_t> lastPlace(program.groupSize, NONE); // per member: its last place so far
    for (const GroupPart& from : parts)
    {
        Part part{};
        part.phase = from.phase;
        part.dimension = program.phaseDimension[from.phase];
        part.level = program.phaseLevel.empty() ? 0 : program.phaseLevel[from.phase];
        part.shape = from.part->shape;
        part.firstUnit = from.group * from.piece->unitStep;
        part.firstOrder = from.firstOrder;
        part.memberBegin = static_cast<uint32_t>(m_places.size());
        part.memberEnd = part.memberBegin + static_cast<uint32_t>(from.part->steps.size());
        for (std::size_t i = 0; i < from.part->members.size(); ++i)
        {
            const uint32_t member = from.piece->GetMember(from.group, from.part->members[i]);
            const auto place = static_cast<uint32_t>(m_places.size());
            if (place >= part.memberEnd)
            {
                m_places.push_back({.part = NONE, .member = member, .steps = 0, .next = NONE});
                continue;
            }
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
                                .steps = from.part->steps[i],
                                .next = NONE});
        }
        m_parts.push_back(part);
    }
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
    for (const Part& part : m_parts)
    {
        GetShape(part).ForEachSentRun([&](uint32_t first, uint32_t count) {
            sum += GetBytes(size, part.firstUnit + first, count);
        });
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
