/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "symmetry/folded-programs.h"

#include <algorithm>

namespace cosim
{

namespace
{

constexpr uint32_t NONE = UINT32_MAX;

/// Writes the table of the members of a program that are left.
class TableWriter
{
  public:
    /**
     * @param steps steps of the program
     * @param firsts per member of the program: the member that stands for it
     * @param table receives the steps; it has none
     */
    TableWriter(const MemberSteps& steps, const std::vector<uint32_t>& firsts, Program& table)
        : m_steps(steps),
          m_firsts(firsts),
          m_table(table),
          m_newOf(firsts.size(), NONE)
    {
        table.stepBegin = {0};
        for (uint32_t member = 0; member < firsts.size(); ++member)
        {
            if (firsts[member] == member)
            {
                m_newOf[member] = static_cast<uint32_t>(m_members.size());
                m_members.push_back(member);
                table.stepBegin.push_back(table.stepBegin.back() +
                                          static_cast<uint32_t>(steps.Of(member).size()));
            }
        }
    }

    /// Write it. @return the members of the program that its members are
    std::vector<uint32_t> Write()
    {
        const auto left = static_cast<uint32_t>(m_members.size());
        m_table.depBegin = {0};
        for (uint32_t member = 0; member < left; ++member)
        {
            for (const MemberSteps::Step& step : m_steps.Of(m_members[member]))
            {
                AddStep(step, m_table.stepBegin[member]);
            }
        }
        m_table.groupSize = static_cast<uint32_t>(m_members.size());
        m_table.mirrors = m_table.groupSize - left;
        m_table.stepBegin.resize(m_members.size() + 1, m_table.stepBegin.back());
        return std::move(m_members);
    }

  private:
    void AddStep(const MemberSteps::Step& step, uint32_t begin)
    {
        m_table.op.push_back(step.op);
        m_table.phase.push_back(step.phase);
        m_table.peer.push_back(step.HasPeer() ? GetMember(step.peer) : 0);
        m_table.offset.push_back(0); // units have the same size
        m_table.count.push_back(step.count);
        m_table.route.push_back(step.route);
        m_table.target.push_back(step.op == StepOp::SEND
                                     ? m_table.stepBegin[m_newOf[m_firsts[step.peer]]] + step.target
                                     : 0);
        for (const uint32_t dep : step.deps)
        {
            m_table.dep.push_back(begin + dep);
        }
        m_table.depBegin.push_back(static_cast<uint32_t>(m_table.dep.size()));
    }

    /// @return the member of the table that a member is; if it is not left, a mirror
    uint32_t GetMember(uint32_t member)
    {
        if (m_newOf[member] == NONE)
        {
            m_newOf[member] = static_cast<uint32_t>(m_members.size());
            m_members.push_back(member);
        }
        return m_newOf[member];
    }

    const MemberSteps& m_steps;
    const std::vector<uint32_t>& m_firsts;
    Program& m_table;
    std::vector<uint32_t> m_newOf;   //!< per member of the program: that of the table, or NONE
    std::vector<uint32_t> m_members; //!< per member of the table: that of the program
};

} // namespace

FoldedPrograms::FoldedPrograms(const Stream& stream)
    : m_stream(stream),
      m_members(stream.topology.GetEndpoints())
{
    for (const Collective& collective : stream.collectives)
    {
        const auto [known, isNew] =
            m_placements.try_emplace(&collective, static_cast<uint32_t>(m_placements.size()));
        m_placementOf.push_back(known->second);
    }
}

/// @return per endpoint of a group: the member that its image is, or NONE
std::vector<uint32_t>
FoldedPrograms::FindMembers(const std::vector<Rank>& endpoints,
                            const std::function<Rank(Rank)>& image)
{
    std::vector<uint32_t> turn; // per member: how often its endpoint was one before
    turn.reserve(endpoints.size());
    for (uint32_t member = 0; member < endpoints.size(); ++member)
    {
        std::vector<uint32_t>& members = m_members[endpoints[member]];
        turn.push_back(static_cast<uint32_t>(members.size()));
        members.push_back(member);
    }
    std::vector<uint32_t> images;
    images.reserve(endpoints.size());
    for (uint32_t member = 0; member < endpoints.size(); ++member)
    {
        const std::vector<uint32_t>& members = m_members[image(endpoints[member])];
        images.push_back(turn[member] < members.size() ? members[turn[member]] : NONE);
    }
    for (const Rank endpoint : endpoints)
    {
        m_members[endpoint].clear();
    }
    return images;
}

bool
FoldedPrograms::AreKeptBy(const Rotation& rotation)
{
    return std::ranges::all_of(m_placements, [&](const auto& placement) {
        const Collective& what = *placement.first;
        std::vector<uint32_t> images =
            FindMembers(what.ranks, [&](Rank endpoint) { return rotation.Move(endpoint); });
        return std::ranges::find(images, NONE) == images.end() &&
               IsKept({what.program, std::move(images)});
    });
}

/// @return whether each member of a program does what its image does
bool
FoldedPrograms::IsKept(const Mapping& images)
{
    const auto [known, isNew] = m_kept.try_emplace(images, false);
    if (isNew)
    {
        const auto [steps, isFirst] = m_steps.try_emplace(images.first);
        if (isFirst)
        {
            steps->second = MemberSteps::List(m_stream.programs, images.first);
        }
        known->second = steps->second && steps->second->IsSameFor(images.second);
    }
    return known->second;
}

std::vector<CollectiveMembers>
FoldedPrograms::Fold(Stream& stream, const Rotations& rotations)
{
    std::map<Mapping, Folded> known;
    std::vector<const Folded*> folded(m_placements.size());
    for (const auto& [what, placement] : m_placements)
    {
        const Mapping firsts{what->program, FindMembers(what->ranks, [&](Rank rank) {
                                 return rotations.GetFirst(rank);
                             })};
        const auto [found, isNew] = known.try_emplace(firsts);
        if (isNew)
        {
            found->second = MakeProgram(stream.programs, firsts);
        }
        folded[placement] = &found->second;
    }
    m_placements.clear(); // its order was that of what changes now
    std::vector<CollectiveMembers> before;
    before.reserve(stream.collectives.size());
    for (uint32_t id = 0; id < stream.collectives.size(); ++id)
    {
        const Folded& left = *folded[m_placementOf[id]];
        Collective& collective = stream.collectives[id];
        std::vector<Rank> ranks;
        ranks.reserve(left.members.size());
        for (const uint32_t member : left.members)
        {
            ranks.push_back(collective.ranks[member]);
        }
        before.push_back({std::exchange(collective.program, left.program),
                          std::exchange(collective.ranks, std::move(ranks))});
    }
    return before;
}

/// Add the program of the members that are left, given for each member the one that stands for it.
FoldedPrograms::Folded
FoldedPrograms::MakeProgram(std::vector<Program>& programs, const Mapping& firsts)
{
    const Program& whole = programs[firsts.first];
    Program table;
    table.id = static_cast<uint32_t>(programs.size());
    table.name = whole.name;
    table.operation = whole.operation;
    table.units = whole.units;
    table.space = whole.space;
    table.equalUnits = whole.equalUnits;
    table.phaseDimension = whole.phaseDimension;
    table.phaseLevel = whole.phaseLevel;
    std::vector<uint32_t> members =
        TableWriter(*m_steps.at(firsts.first), firsts.second, table).Write();
    programs.push_back(std::move(table));
    return {programs.back().id, std::move(members)};
}

} // namespace cosim
