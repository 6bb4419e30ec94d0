/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/trace-validator.h"

#include "stream/validation.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

void
ValidateTraceArrays(const Trace& trace, const Stream& stream, const std::string& where)
{
    const std::size_t nodes = trace.type.size();
    RequireLength(trace.names.size(), nodes, where + "names");
    RequireLength(trace.layer.size(), nodes, where + "layer");
    RequireLength(trace.iteration.size(), nodes, where + "iteration");
    RequireLength(trace.durationPs.size(), nodes, where + "duration_ps");
    RequireLength(trace.collective.size(), nodes, where + "collective");
    RequireLength(trace.peer.size(), nodes, where + "peer");
    RequireLength(trace.bytes.size(), nodes, where + "bytes");
    RequireLength(trace.tag.size(), nodes, where + "tag");
    RequireLength(trace.route.size(), trace.route.empty() ? 0 : nodes, where + "route");
    RequireLength(trace.job.size(), trace.job.empty() ? 0 : nodes, where + "job");
    RequireLength(trace.lane.size(), trace.lane.empty() ? 0 : nodes, where + "lane");
    RequireSlices(trace.depBegin, nodes, trace.dep.size(), where + "dep_begin");
    if (!trace.startDepBegin.empty() || !trace.startDep.empty())
    {
        RequireSlices(trace.startDepBegin, nodes, trace.startDep.size(), where + "start_dep_begin");
    }
    Require(trace.layers == stream.traces.front().layers,
            where,
            "layers differ from those of trace 0");
    Require(trace.jobs == stream.traces.front().jobs, where, "jobs differ from those of trace 0");
    for (const std::vector<uint32_t>* deps : {&trace.dep, &trace.startDep})
    {
        for (const uint32_t dep : *deps)
        {
            Require(dep < nodes,
                    where,
                    "a node depends on node ",
                    dep,
                    ", but the trace has ",
                    nodes,
                    " nodes");
        }
    }
    for (const uint32_t slots : trace.laneSlots)
    {
        Require(slots > 0, where, "a lane has no slots");
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
            ValidateTraceArrays(trace, stream, where);
            for (const uint32_t rank : trace.ranks)
            {
                Require(rank < stream.topology.ranks,
                        where,
                        "rank ",
                        rank,
                        " does not exist; the topology has ",
                        stream.topology.ranks,
                        " ranks");
                Require(!hasTrace[rank], where, "rank ", rank, " has more than one trace");
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
        const auto name = [&] {
            return where + "node " + std::to_string(i) + " (" + trace.names[i] + ")";
        };
        if (trace.layer[i] >= trace.layers.size())
        {
            Refuse(name(),
                   " has layer ",
                   trace.layer[i],
                   ", but the trace has ",
                   trace.layers.size(),
                   " layers");
        }
        if (!trace.job.empty() && trace.job[i] > trace.jobs.size())
        {
            Refuse(name(),
                   " has job ",
                   trace.job[i],
                   ", but the trace has ",
                   trace.jobs.size(),
                   " jobs");
        }
        if (!trace.lane.empty() && trace.lane[i] > trace.laneSlots.size())
        {
            Refuse(name(),
                   " has lane ",
                   trace.lane[i],
                   ", but the trace has ",
                   trace.laneSlots.size(),
                   " lanes");
        }
        m_iterations = std::max(m_iterations, uint64_t{trace.iteration[i]} + 1);
        switch (trace.type[i])
        {
        case NodeType::COMPUTE:
        case NodeType::TIMER:
            RequireTime(trace.durationPs[i], "the duration of a node");
            break;
        case NodeType::COLLECTIVE:
            if (trace.collective[i] >= m_stream.collectives.size())
            {
                Refuse(name(),
                       " issues collective ",
                       trace.collective[i],
                       ", which is not in the stream");
            }
            for (const uint32_t rank : trace.ranks)
            {
                m_issues.push_back(PairOf(trace.collective[i], rank));
            }
            break;
        case NodeType::SEND:
        case NodeType::RECV:
            if (trace.bytes[i] > MAX_BYTES)
            {
                Refuse(name(),
                       " has ",
                       trace.bytes[i],
                       " bytes, but at most ",
                       MAX_BYTES,
                       " are accepted");
            }
            for (const uint32_t rank : trace.ranks)
            {
                const uint32_t peer = trace.GetPeer(i, rank);
                if (peer == rank)
                {
                    Refuse(name(), " is a message of rank ", rank, " to itself");
                }
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
                "the traces have ",
                nodes,
                " nodes, but an iteration has index ",
                m_iterations == 0 ? 0 : m_iterations - 1);
        if (m_stream.traces.empty())
        {
            return;
        }
        const std::size_t layers = m_stream.traces.front().layers.size();
        Require(layers * m_iterations <= uint64_t{1} << 26,
                "the traces have ",
                layers,
                " layers in ",
                m_iterations,
                " iterations, but layers × iterations must be at most 2^26");
        for (const Collective& collective : m_stream.collectives)
        {
            Require(collective.layer < layers && collective.iteration < m_iterations,
                    "collective ",
                    collective.id,
                    " (",
                    collective.name,
                    ") has layer ",
                    collective.layer,
                    " and iteration ",
                    collective.iteration,
                    ", but the traces have ",
                    layers,
                    " layers and ",
                    m_iterations,
                    " iterations");
        }
    }

    void ValidateIssues()
    {
        std::sort(m_issues.begin(), m_issues.end());
        const auto twice = std::adjacent_find(m_issues.begin(), m_issues.end());
        if (twice != m_issues.end())
        {
            Refuse("rank ", *twice & 0xffffffff, " issues collective ", *twice >> 32, " twice");
        }
        std::vector<uint32_t> sorted;
        uint64_t sortedFor = ~uint64_t{0};
        for (const uint64_t issue : m_issues)
        {
            const Collective& collective = m_stream.collectives[issue >> 32];
            if (sortedFor != issue >> 32)
            {
                sortedFor = issue >> 32;
                sorted = collective.ranks;
                std::sort(sorted.begin(), sorted.end());
            }
            const auto rank = static_cast<uint32_t>(issue & 0xffffffff);
            Require(std::binary_search(sorted.begin(), sorted.end(), rank),
                    "rank ",
                    rank,
                    " issues collective ",
                    collective.id,
                    " (",
                    collective.name,
                    ") but is not in its group");
        }
    }

    const Stream& m_stream;
    const PathTable& m_paths;
    uint64_t m_iterations{0};
    std::vector<uint64_t> m_issues; //!< (collective, rank) pairs
};

} // namespace

void
ValidateTraces(const Stream& stream, const PathTable& paths)
{
    const TraceValidator check(stream, paths);
}

} // namespace cosim
