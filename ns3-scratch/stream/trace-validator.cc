/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/stream-fields.h"
#include "stream/validators.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
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
    /// @return the exchanges of a program's own steps; of a rotation, those of its first members
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
        for (uint32_t moved = 0; moved < program.groupSize; moved += program.GetBlock())
        {
            for (const auto& [pair, route] : m_own[program.id])
            {
                const auto peer = static_cast<uint32_t>(pair);
                const auto member = static_cast<uint32_t>(pair >> 32);
                f(member + moved,
                  moved < program.groupSize - peer ? peer + moved
                                                   : peer + moved - program.groupSize,
                  route);
            }
        }
    }

    const std::vector<Program>& m_programs;
    std::vector<std::vector<Exchange>> m_own; //!< per program
};

/// @return the name of a collective in an error message
std::string
GetName(const Collective& collective)
{
    return "collective " + std::to_string(collective.id) + " (" + collective.name + ")";
}

void
ValidateCollectives(const Stream& stream, const PathTable& paths)
{
    const Exchanges exchanges(stream.programs);
    std::set<std::pair<uint32_t, std::vector<uint32_t>>> known; // programs and groups
    for (const Collective& collective : stream.collectives)
    {
        const std::string where = GetName(collective);
        Require(collective.program < stream.programs.size(),
                "{}: program {} is not in the stream",
                {where, collective.program});
        CheckLimits(stream, collective, where + ": ");
        const Program& program = stream.programs[collective.program];
        RequireLength(collective.ranks.size(), program.groupSize, {where, ": ranks"});
        std::vector<uint32_t> sorted = collective.ranks;
        std::erase_if(sorted, [&stream](uint32_t rank) { // groups may share a switch
            return !stream.topology.IsRank(rank);
        });
        std::sort(sorted.begin(), sorted.end());
        Require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                "{}: a rank occurs twice in its group",
                {where});
        Require(collective.groups == 0 || program.groupSize % collective.groups == 0,
                "{}: {} members do not divide into {} groups",
                {where, program.groupSize, collective.groups});
        // This also limits the space of a program when every unit is rounded up.
        const double space = static_cast<double>(program.space) *
                             (static_cast<double>(collective.bytes) / program.units + 1);
        Require(collective.bytes <= MAX_BYTES && space <= static_cast<double>(MAX_BYTES),
                "{}: {} bytes and its scratch space are more than the {} bytes that are accepted",
                {where, collective.bytes, MAX_BYTES});
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

/// Checks the traces, and that each rank issues each of its collectives at most once.
class TraceValidator
{
  public:
    TraceValidator(const Stream& stream, const PathTable& paths)
        : m_stream(stream),
          m_paths(paths)
    {
        std::vector<bool> hasTrace(stream.topology.ranks);
        for (std::size_t t = 0; t < stream.traces.size(); ++t)
        {
            const Trace& trace = stream.traces[t];
            const std::string where = "trace " + std::to_string(t) + ": ";
            CheckLimits(stream, trace, where);
            Require(trace.layers == stream.traces.front().layers,
                    "{}layers differ from those of trace 0",
                    {where});
            Require(trace.jobs == stream.traces.front().jobs,
                    "{}jobs differ from those of trace 0",
                    {where});
            for (const uint32_t rank : trace.ranks)
            {
                if (hasTrace[rank])
                {
                    Refuse("{}rank {} has more than one trace", {where, rank});
                }
                hasTrace[rank] = true;
            }
            for (std::size_t i = 0; i < trace.type.size(); ++i)
            {
                ValidateNode(trace, i, where);
            }
        }
        ValidateIterations();
        ValidateIssues();
    }

  private:
    void ValidateNode(const Trace& trace, std::size_t i, const std::string& where)
    {
        m_iterations = std::max(m_iterations, uint64_t{trace.iteration[i]} + 1);
        switch (trace.type[i])
        {
        case NodeType::COMPUTE:
        case NodeType::TIMER:
            break;
        case NodeType::COLLECTIVE:
            if (trace.collective[i] >= m_stream.collectives.size())
            {
                Refuse("{}node {} ({}) issues collective {}, which is not in the stream",
                       {where, i, trace.names[i], trace.collective[i]});
            }
            for (const uint32_t rank : trace.ranks)
            {
                m_issues.push_back({trace.collective[i], rank});
            }
            break;
        case NodeType::SEND:
        case NodeType::RECV:
            for (const uint32_t rank : trace.ranks)
            {
                const uint32_t peer = trace.GetPeer(i, rank);
                if (peer == rank)
                {
                    Refuse("{}node {} ({}) is a message of rank {} to itself",
                           {where, i, trace.names[i], rank});
                }
                const auto name = [&] {
                    return where + "node " + std::to_string(i) + " (" + trace.names[i] + ")";
                };
                m_paths.RequireBothWays(rank, peer, name, trace.route.empty() ? 0 : trace.route[i]);
            }
        }
    }

    void ValidateIterations() const
    {
        std::size_t nodes = 0;
        for (const Trace& trace : m_stream.traces)
        {
            nodes += trace.type.size();
        }
        Require(m_iterations <= nodes,
                "the traces have {} nodes, but an iteration has index {}",
                {nodes, m_iterations - 1});
        if (m_stream.traces.empty())
        {
            return;
        }
        const std::size_t layers = m_stream.traces.front().layers.size();
        Require(layers * m_iterations <= uint64_t{1} << 26,
                "the traces have {} layers in {} iterations, but layers × iterations must be at "
                "most 2^26",
                {layers, m_iterations});
        for (const Collective& collective : m_stream.collectives)
        {
            if (collective.layer >= layers || collective.iteration >= m_iterations)
            {
                Refuse("{} has layer {} and iteration {}, but the traces have {} layers and {} "
                       "iterations",
                       {GetName(collective),
                        collective.layer,
                        collective.iteration,
                        layers,
                        m_iterations});
            }
        }
    }

    /// Each rank of a group issues its collective at most once, and no other rank does.
    void ValidateIssues()
    {
        std::vector<std::size_t> begin(m_stream.collectives.size() + 1); // of the issues of each
        for (const Issue& issue : m_issues)
        {
            ++begin[issue.collective + 1];
        }
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
        std::vector<uint32_t> ranks(m_issues.size());
        std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
        for (const Issue& issue : m_issues)
        {
            ranks[next[issue.collective]++] = issue.rank;
        }
        for (std::size_t id = 0; id < m_stream.collectives.size(); ++id)
        {
            ValidateIssues(id, {ranks.data() + begin[id], ranks.data() + begin[id + 1]});
        }
    }

    void ValidateIssues(std::size_t id, std::span<uint32_t> ranks)
    {
        std::ranges::sort(ranks);
        if (const auto twice = std::ranges::adjacent_find(ranks); twice != ranks.end())
        {
            Refuse("rank {} issues collective {} twice", {*twice, id});
        }
        std::vector<uint32_t> group = m_stream.collectives[id].ranks;
        std::ranges::sort(group);
        for (const uint32_t rank : ranks)
        {
            if (!std::ranges::binary_search(group, rank))
            {
                Refuse("rank {} issues {} but is not in its group",
                       {rank, GetName(m_stream.collectives[id])});
            }
        }
    }

    /// A rank that issues a collective.
    struct Issue
    {
        uint32_t collective;
        uint32_t rank;
    };

    const Stream& m_stream;
    const PathTable& m_paths;
    uint64_t m_iterations{0};
    std::vector<Issue> m_issues;
};

} // namespace

void
ValidateTraces(const Stream& stream, const PathTable& paths)
{
    ValidateCollectives(stream, paths);
    const TraceValidator check(stream, paths);
}

} // namespace cosim
