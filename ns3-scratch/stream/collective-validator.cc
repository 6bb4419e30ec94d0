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

/// @return per program, the pairs of members that exchange messages
std::vector<std::vector<Exchange>>
FindExchanges(const Stream& stream)
{
    std::vector<std::vector<Exchange>> exchanges(stream.programs.size());
    for (std::size_t i = 0; i < exchanges.size(); ++i)
    {
        const Program& p = stream.programs[i];
        for (uint32_t member = 0; member < p.groupSize; ++member)
        {
            for (uint32_t s = p.stepBegin[member]; s < p.stepBegin[member + 1]; ++s)
            {
                const Exchange exchange(PairOf(member, p.peer[s]),
                                        p.route.empty() ? 0 : p.route[s]);
                if (p.op[s] == StepOp::SEND &&
                    (exchanges[i].empty() || exchanges[i].back() != exchange))
                {
                    exchanges[i].push_back(exchange);
                }
            }
        }
        std::sort(exchanges[i].begin(), exchanges[i].end());
        exchanges[i].erase(std::unique(exchanges[i].begin(), exchanges[i].end()),
                           exchanges[i].end());
    }
    return exchanges;
}

} // namespace

void
ValidateCollectives(const Stream& stream, const PathTable& paths)
{
    const std::vector<std::vector<Exchange>> exchanges = FindExchanges(stream);
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
        for (const auto& [pair, route] : exchanges[collective.program])
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
