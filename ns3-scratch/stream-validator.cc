/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream-validator.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// The parts of an error text, one after the other.
template <typename... Parts>
[[noreturn]] void
Refuse(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    throw std::invalid_argument(text.str());
}

template <typename... Parts>
void
Require(bool condition, const Parts&... parts)
{
    if (!condition)
    {
        Refuse(parts...);
    }
}

void
RequireLength(std::size_t length, std::size_t expected, const std::string& array)
{
    Require(length == expected,
            array,
            " has ",
            length,
            " entries, but ",
            expected,
            " are expected");
}

void
RequireTime(uint64_t ps, const std::string& what)
{
    Require(ps <= MAX_TIME_PS,
            what,
            " is ",
            ps,
            " ps, but at most ",
            MAX_TIME_PS,
            " can be simulated");
}

/// Check an array that delimits slices of another one.
void
RequireSlices(const std::vector<uint32_t>& begin,
              std::size_t owners,
              std::size_t items,
              const std::string& array)
{
    RequireLength(begin.size(), owners + 1, array);
    Require(begin.front() == 0 && begin.back() == items &&
                std::is_sorted(begin.begin(), begin.end()),
            array,
            " does not rise from 0 to ",
            items);
}

uint64_t
PairOf(uint32_t source, uint32_t target)
{
    return static_cast<uint64_t>(source) << 32 | target;
}

void
ValidateSettings(const Settings& settings, const Topology& topology)
{
    const TcpSettings& tcp = settings.tcp;
    Require(tcp.segmentBytes >= 1, "settings: tcp.segment_bytes is 0, but at least 1 is needed");
    Require(tcp.mtuBytes >= uint64_t{tcp.segmentBytes} + 40 && tcp.mtuBytes <= 65535,
            "settings: tcp.mtu_bytes is ",
            tcp.mtuBytes,
            ", but segment_bytes + 40 = ",
            uint64_t{tcp.segmentBytes} + 40,
            " … 65535 are accepted");
    Require(tcp.linkHeaderBytes <= 65535,
            "settings: tcp.link_header_bytes is ",
            tcp.linkHeaderBytes,
            ", but at most 65535 are accepted");
    const std::pair<const char*, uint32_t> positive[] = {
        {"send_buffer_bytes", tcp.sendBufferBytes},
        {"receive_buffer_bytes", tcp.receiveBufferBytes},
        {"initial_cwnd_segments", tcp.initialCwndSegments},
        {"delayed_ack_segments", tcp.delayedAckSegments},
        {"data_retries", tcp.dataRetries},
    };
    for (const auto& [name, value] : positive)
    {
        Require(value >= 1 && value <= uint32_t{1} << 30,
                "settings: tcp.",
                name,
                " is ",
                value,
                ", but 1 … 2^30 are accepted");
    }
    RequireTime(tcp.minRtoPs, "settings: tcp.min_rto_ps");
    RequireTime(tcp.initialRtoPs, "settings: tcp.initial_rto_ps");
    RequireTime(tcp.clockGranularityPs, "settings: tcp.clock_granularity_ps");
    RequireTime(tcp.delayedAckTimeoutPs, "settings: tcp.delayed_ack_timeout_ps");
    RequireTime(settings.rttSampleIntervalPs, "settings: rtt_sample_interval_ps");
    RequireTime(settings.timeLimitPs, "settings: time_limit_ps");
    RequireTime(settings.system.injectionLatencyPs, "settings: system.injection_latency_ps");
    const auto& limits = settings.system.concurrentChunks;
    RequireLength(limits.size(), topology.dimensions.size(), "settings: system.concurrent_chunks");
    Require(std::find(limits.begin(), limits.end(), 0U) == limits.end(),
            "settings: system.concurrent_chunks holds 0, but at least 1 chunk must be allowed");
}

void
ValidateLinks(const Topology& topology)
{
    Require(topology.nodes >= topology.ranks && topology.nodes <= MAX_COUNT,
            "topology: ",
            topology.nodes,
            " nodes for ",
            topology.ranks,
            " ranks, but ranks … ",
            MAX_COUNT,
            " are accepted");
    const std::size_t links = topology.linkSource.size();
    RequireLength(topology.linkTarget.size(), links, "topology: link_target");
    RequireLength(topology.linkRateBps.size(), links, "topology: link_rate_bps");
    RequireLength(topology.linkLatencyPs.size(), links, "topology: link_latency_ps");
    RequireLength(topology.linkBufferBytes.size(), links, "topology: link_buffer_bytes");
    RequireLength(topology.linkEcnThresholdBytes.size(),
                  links,
                  "topology: link_ecn_threshold_bytes");
    RequireLength(topology.linkDimension.size(), links, "topology: link_dimension");
    for (std::size_t i = 0; i < links; ++i)
    {
        const uint32_t source = topology.linkSource[i];
        const uint32_t target = topology.linkTarget[i];
        Require(source < topology.nodes && target < topology.nodes && source != target,
                "topology: link ",
                i,
                " goes from node ",
                source,
                " to node ",
                target,
                ", but two of ",
                topology.nodes,
                " nodes are expected");
        Require(topology.linkRateBps[i] >= 1 && topology.linkRateBps[i] <= MAX_BYTES,
                "topology: the rate of link ",
                i,
                " is ",
                topology.linkRateBps[i],
                " bit/s, but 1 … ",
                MAX_BYTES,
                " are accepted");
        RequireTime(topology.linkLatencyPs[i],
                    "topology: the latency of link " + std::to_string(i));
        Require(topology.linkBufferBytes[i] <= MAX_BYTES &&
                    topology.linkEcnThresholdBytes[i] <= MAX_BYTES,
                "topology: the buffer or the ECN threshold of link ",
                i,
                " is more than ",
                MAX_BYTES,
                " bytes");
        Require(topology.linkDimension[i] < topology.dimensions.size(),
                "topology: link ",
                i,
                " is of dimension ",
                topology.linkDimension[i],
                ", but there are ",
                topology.dimensions.size());
    }
    RequireTime(topology.forwardingDelayPs, "topology: forwarding_delay_ps");
}

/// @return the (source, target) pairs that have a path, sorted
std::vector<uint64_t>
ValidatePaths(const Topology& topology)
{
    const std::size_t paths = topology.pathSource.size();
    RequireLength(topology.pathTarget.size(), paths, "topology: path_target");
    RequireSlices(topology.pathBegin, paths, topology.pathLinks.size(), "topology: path_begin");
    std::vector<uint64_t> pairs(paths);
    for (std::size_t i = 0; i < paths; ++i)
    {
        const uint32_t source = topology.pathSource[i];
        const uint32_t target = topology.pathTarget[i];
        Require(source < topology.ranks && target < topology.ranks && source != target,
                "topology: path ",
                i,
                " goes from rank ",
                source,
                " to rank ",
                target,
                ", but two of ",
                topology.ranks,
                " ranks are expected");
        uint32_t node = source;
        for (uint32_t j = topology.pathBegin[i]; j < topology.pathBegin[i + 1]; ++j)
        {
            const uint32_t link = topology.pathLinks[j];
            Require(link < topology.linkSource.size() && topology.linkSource[link] == node,
                    "topology: path ",
                    i,
                    " continues at node ",
                    node,
                    " with link ",
                    link,
                    ", which does not start there");
            node = topology.linkTarget[link];
        }
        Require(node == target,
                "topology: path ",
                i,
                " ends at node ",
                node,
                " instead of rank ",
                target);
        pairs[i] = PairOf(source, target);
    }
    std::sort(pairs.begin(), pairs.end());
    const auto twice = std::adjacent_find(pairs.begin(), pairs.end());
    Require(twice == pairs.end(),
            "topology: two paths go from rank ",
            twice == pairs.end() ? 0 : *twice >> 32,
            " to rank ",
            twice == pairs.end() ? 0 : *twice & 0xffffffff);
    return pairs;
}

/**
 * Check that two ranks have paths both ways: for data and for acknowledgements.
 *
 * @param pairs the pairs that have a path, sorted
 * @param source one rank
 * @param target the other rank
 * @param user called for the name of who needs the paths
 */
template <typename User>
void
RequirePath(const std::vector<uint64_t>& pairs, uint32_t source, uint32_t target, const User& user)
{
    const bool there = std::binary_search(pairs.begin(), pairs.end(), PairOf(source, target));
    if (!there || !std::binary_search(pairs.begin(), pairs.end(), PairOf(target, source)))
    {
        Refuse("topology: no path from rank ",
               there ? target : source,
               " to rank ",
               there ? source : target,
               ", but ",
               user(),
               " needs one (both ways: data and acknowledgements)");
    }
}

/// Checks one program; the text of its errors starts with its number.
class ProgramValidator
{
  public:
    ProgramValidator(const Program& program, const Topology& topology)
        : m_program(program),
          m_where("program " + std::to_string(program.id) + ": "),
          m_member(program.op.size())
    {
        ValidateArrays(topology);
        for (uint32_t member = 0; member < program.groupSize; ++member)
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
    }

  private:
    void ValidateArrays(const Topology& topology)
    {
        const Program& p = m_program;
        const std::size_t steps = p.op.size();
        Require(p.groupSize >= 1, m_where, "group_size is 0, but at least 1 is needed");
        Require(p.units >= 1 && p.space >= p.units,
                m_where,
                "units is ",
                p.units,
                " and space ",
                p.space,
                ", but 1 ≤ units ≤ space is expected");
        RequireSlices(p.stepBegin, p.groupSize, steps, m_where + "step_begin");
        RequireLength(p.phase.size(), steps, m_where + "phase");
        RequireLength(p.peer.size(), steps, m_where + "peer");
        RequireLength(p.offset.size(), steps, m_where + "offset");
        RequireLength(p.count.size(), steps, m_where + "count");
        RequireLength(p.target.size(), steps, m_where + "target");
        RequireSlices(p.depBegin, steps, p.dep.size(), m_where + "dep_begin");
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
    }

    void ValidateStep(uint32_t i) const
    {
        const Program& p = m_program;
        const auto where = [this, i] { return m_where + "step " + std::to_string(i); };
        if (p.phase[i] >= p.phaseDimension.size())
        {
            Refuse(where(),
                   " is of phase ",
                   p.phase[i],
                   ", but there are ",
                   p.phaseDimension.size());
        }
        if (uint64_t{p.offset[i]} + p.count[i] > p.space)
        {
            Refuse(where(), " reaches past the ", p.space, " units of its space");
        }
        switch (p.op[i])
        {
        case StepOp::SEND:
        case StepOp::RECV:
        case StepOp::RECV_REDUCE:
            ValidateMessage(i, where);
            break;
        case StepOp::COPY:
        case StepOp::REDUCE:
            if (uint64_t{p.target[i]} + p.count[i] > p.space)
            {
                Refuse(where(), " reaches past the ", p.space, " units of its space");
            }
        }
        for (uint32_t d = p.depBegin[i]; d < p.depBegin[i + 1]; ++d)
        {
            const uint32_t dep = p.dep[d];
            if (dep >= p.op.size() || m_member[dep] != m_member[i] || p.phase[dep] > p.phase[i])
            {
                Refuse(where(),
                       " depends on step ",
                       dep,
                       ", which is no step of the same member in the same or an earlier phase");
            }
        }
    }

    template <typename Where>
    void ValidateMessage(uint32_t i, const Where& where) const
    {
        const Program& p = m_program;
        const uint32_t mate = p.target[i];
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
        const auto isMate = [&] {
            const bool opposite =
                isSend ? p.op[mate] == StepOp::RECV || p.op[mate] == StepOp::RECV_REDUCE
                       : p.op[mate] == StepOp::SEND;
            return opposite && p.target[mate] == i && m_member[mate] == p.peer[i] &&
                   p.peer[mate] == m_member[i];
        };
        if (mate >= p.op.size() || !isMate())
        {
            Refuse(where(),
                   isSend ? " sends to step " : " receives from step ",
                   mate,
                   ", which does not match it");
        }
        if (p.phase[mate] != p.phase[i])
        {
            Refuse(where(), " and its mate, step ", mate, ", are of different phases");
        }
        if (p.count[mate] != p.count[i])
        {
            Refuse(where(), " and its mate, step ", mate, ", have different counts of units");
        }
    }

    const Program& m_program;
    const std::string m_where;
    std::vector<uint32_t> m_member; //!< of each step
};

/// Checks the collectives: their programs, groups and paths.
void
ValidateCollectives(const Stream& stream, const std::vector<uint64_t>& pairs)
{
    // Per program, the pairs of members that exchange messages.
    std::vector<std::vector<uint64_t>> talks(stream.programs.size());
    for (std::size_t i = 0; i < talks.size(); ++i)
    {
        const Program& p = stream.programs[i];
        for (uint32_t member = 0; member < p.groupSize; ++member)
        {
            for (uint32_t s = p.stepBegin[member]; s < p.stepBegin[member + 1]; ++s)
            {
                if (p.op[s] == StepOp::SEND &&
                    (talks[i].empty() || talks[i].back() != PairOf(member, p.peer[s])))
                {
                    talks[i].push_back(PairOf(member, p.peer[s]));
                }
            }
        }
        std::sort(talks[i].begin(), talks[i].end());
        talks[i].erase(std::unique(talks[i].begin(), talks[i].end()), talks[i].end());
    }
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
                " is not one of ",
                stream.topology.ranks);
        Require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
                where,
                ": a rank stands twice in its group");
        Require(collective.chunks >= 1 && collective.chunks <= MAX_COUNT,
                where,
                ": chunks is ",
                collective.chunks,
                ", but 1 … ",
                MAX_COUNT,
                " are accepted");
        // Also bounds the space of a program whose units are all of the rounded-up size.
        const double space = static_cast<double>(program.space) *
                             (static_cast<double>(collective.bytes) / program.units + 1);
        Require(collective.bytes <= MAX_BYTES && space <= static_cast<double>(MAX_BYTES),
                where,
                ": ",
                collective.bytes,
                " bytes are more than the ",
                MAX_BYTES,
                " that are accepted (with its scratch space)");
        for (const uint64_t pair : talks[collective.program])
        {
            RequirePath(pairs,
                        collective.ranks[pair >> 32],
                        collective.ranks[pair & 0xffffffff],
                        [&] { return where; });
        }
    }
}

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
    RequireSlices(trace.depBegin, nodes, trace.dep.size(), where + "dep_begin");
    Require(trace.layers == stream.traces.front().layers,
            where,
            "layers differ from those of trace 0");
    for (const uint32_t dep : trace.dep)
    {
        Require(dep < nodes, where, "a node depends on node ", dep, ", but there are ", nodes);
    }
}

/// Checks the traces, and that each collective is issued at most once by each of its ranks.
class TraceValidator
{
  public:
    TraceValidator(const Stream& stream, const std::vector<uint64_t>& pairs)
        : m_stream(stream),
          m_pairs(pairs)
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
                        " is not one of ",
                        stream.topology.ranks);
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
                   " is of layer ",
                   trace.layer[i],
                   ", but there are ",
                   trace.layers.size());
        }
        m_iterations = std::max(m_iterations, uint64_t{trace.iteration[i]} + 1);
        switch (trace.type[i])
        {
        case NodeType::COMPUTE:
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
                Refuse(name(), " has more than ", MAX_BYTES, " bytes");
            }
            for (const uint32_t rank : trace.ranks)
            {
                if (trace.peer[i] == rank)
                {
                    Refuse(name(), " is a message of rank ", rank, " to itself");
                }
                RequirePath(m_pairs, rank, trace.peer[i], name);
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
                " nodes, but an iteration with the index ",
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
                " iterations, which is more than 2^26 in all");
        for (const Collective& collective : m_stream.collectives)
        {
            Require(collective.layer < layers && collective.iteration < m_iterations,
                    "collective ",
                    collective.id,
                    " (",
                    collective.name,
                    ") is of layer ",
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
                    ") without being in its group");
        }
    }

    const Stream& m_stream;
    const std::vector<uint64_t>& m_pairs;
    uint64_t m_iterations{0};
    std::vector<uint64_t> m_issues; //!< (collective, rank)
};

} // namespace

void
ValidateStream(const Stream& stream)
{
    ValidateLinks(stream.topology);
    const std::vector<uint64_t> pairs = ValidatePaths(stream.topology);
    ValidateSettings(stream.settings, stream.topology);
    for (const Program& program : stream.programs)
    {
        const ProgramValidator check(program, stream.topology);
    }
    ValidateCollectives(stream, pairs);
    const TraceValidator check(stream, pairs);
}

} // namespace cosim
