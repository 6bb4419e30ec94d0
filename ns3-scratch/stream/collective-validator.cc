/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/collective-validator.h"

#include "stream/validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// A pair of members that exchange messages, and the route that they use.
using Exchange = std::pair<uint64_t, uint32_t>;

/// The pairs of members that exchange messages in the programs of a stream.
class Exchanges
{
  public:
    explicit Exchanges(const std::vector<Program>& programs)
        : m_programs(programs)
    {
        for (const Program& program : programs)
        {
            m_own.push_back(Find(program));
        }
    }

    /// Call f(sender, receiver, route) for the members of a program.
    template <typename Function>
    void ForEach(const Program& program, const Function& f) const
    {
        ForEachOwn(program, f);
        for (const Piece& piece : program.pieces)
        {
            for (uint32_t group = 0; group < piece.groups; ++group)
            {
                ForEachOwn(m_programs[piece.program],
                           [&](uint32_t from, uint32_t to, uint32_t route) {
                               f(piece.GetMember(group, from), piece.GetMember(group, to), route);
                           });
            }
        }
    }

  private:
    /// @return the exchanges of a program's own steps; of a rotation, those of member 0
    static std::vector<Exchange> Find(const Program& p)
    {
        std::vector<Exchange> found;
        for (uint32_t member = 0; member + 1 < p.stepBegin.size(); ++member)
        {
            for (uint32_t s = p.stepBegin[member]; s < p.stepBegin[member + 1]; ++s)
            {
                const Exchange exchange(PairOf(member, p.peer[s]),
                                        p.route.empty() ? 0 : p.route[s]);
                if (p.op[s] == StepOp::SEND && (found.empty() || found.back() != exchange))
                {
                    found.push_back(exchange);
                }
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

    template <typename Function>
    void ForEachOwn(const Program& program, const Function& f) const
    {
        const uint32_t turns = program.IsRotation() ? program.groupSize : 1;
        for (uint32_t turn = 0; turn < turns; ++turn)
        {
            for (const auto& [pair, route] : m_own[program.id])
            {
                const auto peer = static_cast<uint32_t>(pair);
                const auto member = static_cast<uint32_t>(pair >> 32);
                f(member + turn,
                  turn < program.groupSize - peer ? peer + turn : peer + turn - program.groupSize,
                  route);
            }
        }
    }

    const std::vector<Program>& m_programs;
    std::vector<std::vector<Exchange>> m_own; //!< per program
};

} // namespace

void
ValidateCollectives(const Stream& stream, const PathTable& paths)
{
    const Exchanges exchanges(stream.programs);
    std::vector<uint32_t> sorted;
    std::set<std::pair<uint32_t, std::vector<uint32_t>>> known; // programs and groups
    for (const Collective& collective : stream.collectives)
    {
        const std::string where =
            "collective " + std::to_string(collective.id) + " (" + collective.name + ")";
        Require(collective.program < stream.programs.size(),
                where,
                ": program ",
                collective.program,
                " is not in the stream");
        const Program& program = stream.programs[collective.program];
        RequireLength(collective.ranks.size(), program.groupSize, where + ": ranks");
        sorted = collective.ranks;
        std::sort(sorted.begin(), sorted.end());
        Require(sorted.back() < stream.topology.ranks,
                where,
                ": rank ",
                sorted.back(),
                " does not exist; the topology has ",
                stream.topology.ranks,
                " ranks");
        Require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                where,
                ": a rank occurs twice in its group");
        Require(collective.groups == 0 || program.groupSize % collective.groups == 0,
                where,
                ": ",
                program.groupSize,
                " members do not divide into ",
                collective.groups,
                " groups");
        Require(collective.chunks >= 1 && collective.chunks <= MAX_COUNT,
                where,
                ": chunks is ",
                collective.chunks,
                ", but 1 … ",
                MAX_COUNT,
                " are accepted");
        // This also limits the space of a program when every unit is rounded up.
        const double space = static_cast<double>(program.space) *
                             (static_cast<double>(collective.bytes) / program.units + 1);
        Require(collective.bytes <= MAX_BYTES && space <= static_cast<double>(MAX_BYTES),
                where,
                ": ",
                collective.bytes,
                " bytes and its scratch space are more than the ",
                MAX_BYTES,
                " bytes that are accepted");
        if (!known.insert({collective.program, collective.ranks}).second)
        {
            continue;
        }
        exchanges.ForEach(program, [&](uint32_t from, uint32_t to, uint32_t route) {
            paths.RequireBothWays(
                collective.ranks[from],
                collective.ranks[to],
                [&] { return where; },
                route);
        });
    }
}

} // namespace cosim
