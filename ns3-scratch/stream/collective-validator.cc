/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/collective-validator.h"

#include "stream/validation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

/// A pair of members that exchange messages, and the route that they use.
using Talk = std::pair<uint64_t, uint32_t>;

/// @return per program, the pairs of members that exchange messages
std::vector<std::vector<Talk>>
FindTalks(const Stream& stream)
{
    std::vector<std::vector<Talk>> talks(stream.programs.size());
    for (std::size_t i = 0; i < talks.size(); ++i)
    {
        const Program& p = stream.programs[i];
        for (uint32_t member = 0; member < p.groupSize; ++member)
        {
            for (uint32_t s = p.stepBegin[member]; s < p.stepBegin[member + 1]; ++s)
            {
                const Talk talk(PairOf(member, p.peer[s]), p.route.empty() ? 0 : p.route[s]);
                if (p.op[s] == StepOp::SEND && (talks[i].empty() || talks[i].back() != talk))
                {
                    talks[i].push_back(talk);
                }
            }
        }
        std::sort(talks[i].begin(), talks[i].end());
        talks[i].erase(std::unique(talks[i].begin(), talks[i].end()), talks[i].end());
    }
    return talks;
}

} // namespace

void
ValidateCollectives(const Stream& stream, const PathTable& paths)
{
    const std::vector<std::vector<Talk>> talks = FindTalks(stream);
    std::vector<uint32_t> sorted;
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
        for (const auto& [pair, route] : talks[collective.program])
        {
            paths.RequireBothWays(
                collective.ranks[pair >> 32],
                collective.ranks[pair & 0xffffffff],
                [&] { return where; },
                route);
        }
    }
}

} // namespace cosim
