/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/circuit-routes.h"

#include "network/flow-hash.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace cosim
{

CircuitRoutes::CircuitRoutes(const Topology& topology, LiveLinks& links)
    : m_topology(topology),
      m_links(links),
      m_route(GetRoutes(topology))
{
    ListLinks();
    FindDistances();
}

void
CircuitRoutes::Apply(std::span<const LinkUpdate> updates)
{
    m_links.Update(updates);
    ListLinks();
    FindDistances();
    FindPaths();
}

/// Build the list of the links that leave each rank.
void
CircuitRoutes::ListLinks()
{
    m_outBegin.assign(m_topology.ranks + 1, 0);
    for (uint32_t link = 0; link < m_links.GetCount(); ++link)
    {
        m_outBegin[m_links.Get(link).source + 1] += m_links.Get(link).isUp ? 1 : 0;
    }
    std::partial_sum(m_outBegin.begin(), m_outBegin.end(), m_outBegin.begin());
    m_out.resize(m_outBegin.back());
    std::vector<uint32_t> next(m_outBegin);
    for (uint32_t link = 0; link < m_links.GetCount(); ++link)
    {
        if (m_links.Get(link).isUp)
        {
            m_out[next[m_links.Get(link).source]++] = link;
        }
    }
}

/// Compute the distances between all ranks with a breadth-first search from each target.
void
CircuitRoutes::FindDistances()
{
    if (!m_topology.reconfiguration.forwarding)
    {
        return;
    }
    const std::size_t ranks = m_topology.ranks;
    std::vector<std::vector<uint32_t>> into(ranks);
    for (const uint32_t link : m_out)
    {
        into[m_links.Get(link).target].push_back(m_links.Get(link).source);
    }
    m_distance.assign(ranks * ranks, FAR);
    std::vector<uint32_t> order;
    for (uint32_t target = 0; target < ranks; ++target)
    {
        uint16_t* const distance = &m_distance[target * ranks];
        distance[target] = 0;
        order.assign(1, target);
        for (std::size_t i = 0; i < order.size(); ++i)
        {
            for (const uint32_t node : into[order[i]])
            {
                if (distance[node] == FAR)
                {
                    distance[node] = static_cast<uint16_t>(distance[order[i]] + 1);
                    order.push_back(node);
                }
            }
        }
    }
}

uint16_t
CircuitRoutes::GetDistance(uint32_t node, uint32_t target) const
{
    if (m_topology.reconfiguration.forwarding)
    {
        return m_distance[std::size_t{target} * m_topology.ranks + node];
    }
    return node == target ? 0 : FAR; // without forwarding, only direct links count
}

uint32_t
CircuitRoutes::GetNext(uint32_t node, uint32_t path) const
{
    const uint32_t source = m_topology.pathSource[path];
    const uint32_t target = m_topology.pathTarget[path];
    const int shorter = m_topology.reconfiguration.forwarding ? GetDistance(node, target) - 1 : 0;
    uint32_t found = NONE;
    uint32_t count = 0;
    for (uint32_t i = m_outBegin[node]; i < m_outBegin[node + 1]; ++i)
    {
        const bool isNearer = GetDistance(m_links.Get(m_out[i]).target, target) == shorter;
        found = isNearer && count++ == 0 ? m_out[i] : found;
    }
    if (count < 2)
    {
        return found;
    }
    const auto hop = static_cast<uint64_t>(int64_t{GetDistance(source, target)} - shorter - 1);
    uint64_t choice = HashFlow(source, target, m_route[path], hop) % count;
    for (uint32_t i = m_outBegin[node]; i < m_outBegin[node + 1]; ++i)
    {
        if (GetDistance(m_links.Get(m_out[i]).target, target) == shorter && choice-- == 0)
        {
            return m_out[i];
        }
    }
    return NONE;
}

void
CircuitRoutes::FindPaths()
{
    std::vector<uint32_t> begin{0};
    std::vector<uint32_t> links;
    begin.reserve(m_route.size() + 1);
    for (uint32_t path = 0; path < m_route.size(); ++path)
    {
        uint32_t node = m_topology.pathSource[path];
        while (node != m_topology.pathTarget[path])
        {
            const uint32_t link = GetNext(node, path);
            if (link == NONE)
            {
                break;
            }
            links.push_back(link);
            node = m_links.Get(link).target;
        }
        begin.push_back(static_cast<uint32_t>(links.size()));
    }
    m_links.SetPaths(std::move(begin), std::move(links));
}

} // namespace cosim
