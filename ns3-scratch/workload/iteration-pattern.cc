/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/iteration-pattern.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// @return true if two nodes have equal entries, or the column has no entries
template <typename T>
bool
Agree(const std::vector<T>& column, uint32_t a, uint32_t b)
{
    return column.empty() || column[a] == column[b];
}

/// @return true if a node's dependencies equal those of an earlier node, moved by their distance
bool
AgreeOnDependencies(const std::vector<uint32_t>& begin,
                    const std::vector<uint32_t>& dep,
                    uint32_t node,
                    uint32_t before)
{
    if (begin.empty())
    {
        return true;
    }
    const uint32_t count = begin[node + 1] - begin[node];
    if (count != begin[before + 1] - begin[before])
    {
        return false;
    }
    for (uint32_t i = 0; i < count; ++i)
    {
        if (dep[begin[node] + i] != dep[begin[before] + i] + (node - before))
        {
            return false;
        }
    }
    return true;
}

} // namespace

IterationPattern::IterationPattern(const Stream& stream)
    : m_stream(stream),
      m_places(stream.traces.size())
{
    for (const Trace& trace : stream.traces)
    {
        if (!trace.jobs.empty())
        {
            m_problem = "jobs share the cluster, and each has iterations of its own";
            return;
        }
        for (const uint32_t iteration : trace.iteration)
        {
            m_iterations = std::max(m_iterations, iteration + 1);
        }
    }
    if (m_iterations < 3)
    {
        m_problem = "there are fewer than three iterations";
        return;
    }
    std::vector<std::vector<uint32_t>> beginsOf; // per trace
    for (std::size_t i = 0; i < stream.traces.size() && m_problem.empty(); ++i)
    {
        const Trace& trace = stream.traces[i];
        const std::vector<uint32_t>& begins = beginsOf.emplace_back(FindBegins(trace));
        for (uint32_t iteration = m_iterations; --iteration > m_first && m_problem.empty();)
        {
            const uint32_t begin = begins[iteration];
            const uint32_t before = begins[iteration - 1];
            const uint32_t nodes = begins[iteration + 1] - begin;
            bool isSame = nodes == begin - before;
            for (uint32_t node = 0; node < nodes && isSame; ++node)
            {
                isSame = IsSame(trace, begin + node, before + node);
            }
            if (!isSame)
            {
                m_first = iteration;
            }
        }
    }
    if (m_problem.empty() && m_first + 1 >= m_iterations)
    {
        m_problem = "the iterations of the workload differ";
    }
    for (std::size_t i = 0; i < stream.traces.size() && m_problem.empty(); ++i)
    {
        m_places[i] = FindPlaces(stream.traces[i], beginsOf[i][m_first], beginsOf[i][m_first + 1]);
    }
}

/// @return the first node of each iteration, and the number of nodes
std::vector<uint32_t>
IterationPattern::FindBegins(const Trace& trace)
{
    const auto nodes = static_cast<uint32_t>(trace.type.size());
    std::vector<uint32_t> begins(std::size_t{m_iterations} + 1, nodes);
    if (!std::is_sorted(trace.iteration.begin(), trace.iteration.end()))
    {
        m_problem = "the iterations of the workload are interleaved in a trace";
        return begins;
    }
    for (uint32_t node = nodes; node-- > 0;)
    {
        begins[trace.iteration[node]] = node;
    }
    for (uint32_t iteration = m_iterations; iteration-- > 0;)
    {
        begins[iteration] = std::min(begins[iteration], begins[iteration + 1]);
    }
    return begins;
}

/// @return the places of an iteration with the nodes from begin to end - 1
IterationPattern::Places
IterationPattern::FindPlaces(const Trace& trace, uint32_t begin, uint32_t end)
{
    Places places{begin, end - begin, 0, 0};
    for (uint32_t node = 0; node < end; ++node)
    {
        if (trace.type[node] == NodeType::COMPUTE && (trace.lane.empty() || trace.lane[node] == 0))
        {
            ++(node < begin ? places.computesBegin : places.computes);
        }
    }
    return places;
}

bool
IterationPattern::IsSame(const Trace& trace, uint32_t node, uint32_t before)
{
    if (trace.type[node] == NodeType::TIMER && trace.tag[node] != 0)
    {
        m_problem = "timers of several ranks begin together";
        return false;
    }
    return Agree(trace.type, node, before) && Agree(trace.layer, node, before) &&
           Agree(trace.durationPs, node, before) && Agree(trace.peer, node, before) &&
           Agree(trace.bytes, node, before) && Agree(trace.route, node, before) &&
           Agree(trace.lane, node, before) && HasSameDependencies(trace, node, before) &&
           HasSameCollective(trace, node, before);
}

bool
IterationPattern::HasSameDependencies(const Trace& trace, uint32_t node, uint32_t before) const
{
    return AgreeOnDependencies(trace.depBegin, trace.dep, node, before) &&
           AgreeOnDependencies(trace.startDepBegin, trace.startDep, node, before);
}

/// @return true if what a node exchanges with other ranks is the same, apart from its id or tag
bool
IterationPattern::HasSameCollective(const Trace& trace, uint32_t node, uint32_t before)
{
    if (trace.type[node] == NodeType::SEND || trace.type[node] == NodeType::RECV)
    {
        const uint64_t step = trace.tag[node] - trace.tag[before];
        m_tags = m_knowsTags ? m_tags : step;
        m_knowsTags = true;
        return step == m_tags;
    }
    if (trace.type[node] != NodeType::COLLECTIVE)
    {
        return true;
    }
    const Collective& now = m_stream.collectives[trace.collective[node]];
    const Collective& old = m_stream.collectives[trace.collective[before]];
    const uint32_t step = now.id - old.id;
    m_collectives = m_knowsCollectives ? m_collectives : step;
    m_knowsCollectives = true;
    return step == m_collectives && now.program == old.program && now.ranks == old.ranks &&
           now.bytes == old.bytes && now.chunks == old.chunks && now.layer == old.layer &&
           now.priorityClass == old.priorityClass && now.groups == old.groups;
}

} // namespace cosim
