/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/circuit-routes.h"

#include "network/flow-hash.h"

#include <algorithm>
#include <utility>

namespace cosim
{

CircuitRoutes::CircuitRoutes(const Topology& topology, LiveLinks& links)
    : m_topology(topology),
      m_links(links),
      m_pathOf(topology.ranks, topology.pathSource, topology.pathTarget),
      m_route(GetRoutes(topology)),
      m_out(topology.ranks)
{
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        List(link);
    }
    FindDistances();
}

std::vector<uint32_t>
CircuitRoutes::Apply(std::span<const LinkUpdate> updates)
{
    m_links.Update(updates);
    for (const LinkUpdate& update : updates)
    {
        List(update.link);
    }
    FindDistances();
    std::vector<uint32_t> paths = ListDependents(updates);
    for (const uint32_t path : paths)
    {
        FindPath(path);
    }
    return paths;
}

/// Keep a link in the list of its source if it is up, and only then.
void
CircuitRoutes::List(uint32_t link)
{
    std::vector<uint32_t>& out = m_out[m_links.Get(link).source];
    const auto place = std::lower_bound(out.begin(), out.end(), link);
    const bool isListed = place != out.end() && *place == link;
    if (m_links.Get(link).isUp && !isListed)
    {
        out.insert(place, link);
    }
    else if (!m_links.Get(link).isUp && isListed)
    {
        out.erase(place);
    }
}

/// @return the paths that can depend on changed links, in increasing order
std::vector<uint32_t>
CircuitRoutes::ListDependents(std::span<const LinkUpdate> updates)
{
    if (m_topology.reconfiguration.forwarding || std::exchange(m_isFirst, false))
    {
        return ListPaths(m_topology);
    }
    std::vector<uint32_t> paths;
    for (const LinkUpdate& update : updates)
    { // without forwarding, only the paths of its pair use a link
        const uint32_t first = m_pathOf.Find(update.state.source, update.state.target);
        for (uint32_t path = first; path < m_route.size() && m_route[path] == path - first; ++path)
        {
            paths.push_back(path);
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
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
    for (uint32_t source = 0; source < ranks; ++source)
    {
        for (const uint32_t link : m_out[source])
        {
            into[m_links.Get(link).target].push_back(source);
        }
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
    for (const uint32_t link : m_out[node])
    {
        const bool isNearer = GetDistance(m_links.Get(link).target, target) == shorter;
        found = isNearer && count++ == 0 ? link : found;
    }
    if (count < 2)
    {
        return found;
    }
    const auto hop = static_cast<uint64_t>(int64_t{GetDistance(source, target)} - shorter - 1);
    uint64_t choice = HashFlow(source, target, m_route[path], hop) % count;
    for (const uint32_t link : m_out[node])
    {
        if (GetDistance(m_links.Get(link).target, target) == shorter && choice-- == 0)
        {
            return link;
        }
    }
    return NONE;
}

/// Let a path follow the links that are up.
void
CircuitRoutes::FindPath(uint32_t path)
{
    m_found.clear();
    uint32_t node = m_topology.pathSource[path];
    while (node != m_topology.pathTarget[path])
    {
        const uint32_t link = GetNext(node, path);
        if (link == NONE)
        {
            break;
        }
        m_found.push_back(link);
        node = m_links.Get(link).target;
    }
    m_links.SetPath(path, m_found);
}

} // namespace cosim
