/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/switch-removal.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

/// The turns in which the links of a switch are joined.
enum class Turn
{
    EVEN, //!< even shares
    REST, //!< as much as possible
    BACK, //!< paths that return to their source
};

} // namespace

SwitchRemoval::SwitchRemoval(const Capacities& graph,
                             std::span<const int64_t> supply,
                             uint32_t ranks)
    : m_nodes(graph.nodes),
      m_ranks(ranks),
      m_wanted(std::reduce(supply.begin(), supply.end())),
      m_supply(supply.begin(), supply.end()),
      m_flow(graph.nodes + 1)
{
    Check(graph);
    if (supply.size() != m_nodes || ranks > m_nodes)
    {
        throw std::invalid_argument("expected a supply for each node");
    }
    for (uint32_t node = 0; node < m_nodes; ++node)
    {
        m_flow.AddArc(m_nodes, node, m_supply[node]);
    }
    for (uint32_t link = 0; link < graph.source.size(); ++link)
    {
        m_channels.push_back(
            {graph.source[link], graph.target[link], graph.capacity[link], {link}});
        m_flow.AddArc(graph.source[link], graph.target[link], graph.capacity[link]);
    }
}

std::vector<Channel>
SwitchRemoval::Run()
{
    for (uint32_t node = m_ranks; node < m_nodes; ++node)
    {
        Remove(node);
    }
    std::vector<Channel> result;
    for (Channel& channel : m_channels)
    {
        if (channel.capacity > 0 && channel.source != channel.target &&
            std::max(channel.source, channel.target) < m_ranks)
        {
            result.push_back(std::move(channel));
        }
    }
    return result;
}

void
SwitchRemoval::Remove(uint32_t node)
{
    std::vector<uint32_t> in;
    std::vector<uint32_t> out;
    for (uint32_t channel = 0; channel < m_channels.size(); ++channel)
    {
        if (m_channels[channel].target == node)
        {
            in.push_back(channel);
        }
        if (m_channels[channel].source == node)
        {
            out.push_back(channel);
        }
    }
    // Even shares come first, because they give every rank many neighbours and so shallow trees. A
    // path that returns to its source is useless, so such pairs come last.
    for (const Turn turn : {Turn::EVEN, Turn::REST, Turn::BACK})
    {
        for (const uint32_t first : in)
        {
            const auto others = std::max<int64_t>(static_cast<int64_t>(out.size()) - 1, 1);
            const int64_t share = std::max<int64_t>(m_channels[first].capacity / others, 1);
            for (const uint32_t second : out)
            {
                const bool returns = m_channels[first].source == m_channels[second].target;
                if (returns == (turn == Turn::BACK))
                {
                    Join(first, second, turn == Turn::EVEN ? share : MaxFlow::UNLIMITED);
                }
            }
        }
    }
    for (const auto* channels : {&in, &out})
    {
        for (const uint32_t channel : *channels)
        {
            m_channels[channel].capacity = 0;
            m_flow.SetCapacity(m_nodes + channel, 0);
        }
    }
}

void
SwitchRemoval::Join(uint32_t in, uint32_t out, int64_t share)
{
    const int64_t most = std::min({share, m_channels[in].capacity, m_channels[out].capacity});
    const int64_t room = most > 0 ? FindRoom(in, out, most) : 0;
    if (room == 0)
    {
        return;
    }
    Channel joined{m_channels[in].source, m_channels[out].target, room, m_channels[in].links};
    joined.links.insert(joined.links.end(),
                        m_channels[out].links.begin(),
                        m_channels[out].links.end());
    for (const uint32_t channel : {in, out})
    {
        m_channels[channel].capacity -= room;
        m_flow.SetCapacity(m_nodes + channel, m_channels[channel].capacity);
    }
    if (joined.source == joined.target)
    {
        return;
    }
    m_flow.AddArc(joined.source, joined.target, room);
    m_channels.push_back(std::move(joined));
}

int64_t
SwitchRemoval::FindRoom(uint32_t in, uint32_t out, int64_t most)
{
    // Joining lowers the capacity into a set of nodes that contains only the switch, or only both
    // other ends.
    const uint32_t middle = m_channels[in].target;
    const std::array ends{m_channels[in].source, m_channels[out].target};
    for (uint32_t rank = 0; rank < m_ranks && most > 0; ++rank)
    {
        if (rank != ends[0] && rank != ends[1])
        {
            most = FindExcess(ends, std::span(&middle, 1), rank, most);
        }
    }
    const auto end = std::ranges::find_if(ends, [this](uint32_t node) { return node < m_ranks; });
    if (end != ends.end())
    {
        return FindExcess(std::span(&middle, 1), ends, *end, most);
    }
    for (uint32_t rank = 0; rank < m_ranks && most > 0; ++rank)
    {
        most = FindExcess(std::span(&middle, 1), ends, rank, most);
    }
    return most;
}

int64_t
SwitchRemoval::FindExcess(std::span<const uint32_t> origins,
                          std::span<const uint32_t> members,
                          uint32_t rank,
                          int64_t most)
{
    if (most == 0)
    {
        return 0;
    }
    const uint32_t arcs = m_flow.GetArcs();
    for (const uint32_t node : origins)
    {
        m_flow.AddArc(m_nodes, node, MaxFlow::UNLIMITED);
    }
    for (const uint32_t node : members)
    {
        if (node != rank)
        {
            m_flow.AddArc(node, rank, MaxFlow::UNLIMITED);
        }
    }
    const int64_t found = m_flow.Run(m_nodes, rank, m_wanted + most);
    m_flow.Shrink(arcs);
    return std::max<int64_t>(0, found - m_wanted);
}

} // namespace cosim
