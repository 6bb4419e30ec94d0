/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/detour-routes.h"

#include "network/flow-hash.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace cosim
{

DetourRoutes::DetourRoutes(const Topology& topology, LiveLinks& links, Broken broken)
    : m_topology(topology),
      m_links(links),
      m_broken(broken),
      m_route(GetRoutes(topology)),
      m_out(topology.nodes),
      m_into(topology.nodes)
{
    m_current.reserve(m_route.size());
    for (uint32_t path = 0; path < m_route.size(); ++path)
    {
        m_current.push_back(GetOriginal(path));
    }
    for (uint32_t link = 0; link < links.GetCount(); ++link)
    {
        m_out[links.Get(link).source].push_back(link);
        m_into[links.Get(link).target].push_back(link);
    }
}

std::vector<uint32_t>
DetourRoutes::Apply(std::span<const LinkUpdate> updates)
{
    m_links.Update(updates);
    m_distances.clear();
    m_ways.clear();
    if (m_broken == Broken::STANDS_STILL)
    {
        for (uint32_t path = 0; path < m_current.size(); ++path)
        {
            if (!AreUp(m_current[path]))
            {
                m_current[path] = {};
            }
            else if (m_current[path].empty() && AreUp(GetOriginal(path)))
            { // its link is up again before the path has followed the failure
                m_current[path] = GetOriginal(path);
            }
        }
        Publish();
    }
    return ListPaths(m_topology);
}

uint32_t
DetourRoutes::Reroute()
{
    uint32_t changed = 0;
    for (uint32_t path = 0; path < m_current.size(); ++path)
    {
        std::span<const uint32_t> next = GetOriginal(path);
        if (!AreUp(next))
        {
            next = FindPath(path);
            if (next.empty() && m_broken == Broken::STAYS)
            {
                next = GetOriginal(path);
            }
        }
        changed += next.data() == m_current[path].data() ? 0 : 1;
        m_current[path] = next;
    }
    Publish();
    return changed;
}

/// Let the paths of the fabric's links be the current ones.
void
DetourRoutes::Publish()
{
    for (uint32_t path = 0; path < m_current.size(); ++path)
    {
        m_links.SetPath(path, m_current[path]);
    }
}

std::span<const uint32_t>
DetourRoutes::GetOriginal(uint32_t path) const
{
    const uint32_t begin = m_topology.pathBegin[path];
    return std::span(m_topology.pathLinks).subspan(begin, m_topology.pathBegin[path + 1] - begin);
}

bool
DetourRoutes::AreUp(std::span<const uint32_t> links) const
{
    return std::all_of(links.begin(), links.end(), [this](uint32_t link) {
        return m_links.Get(link).isUp;
    });
}

std::vector<uint32_t>
DetourRoutes::GetBrokenPaths() const
{
    std::vector<uint32_t> broken;
    for (uint32_t path = 0; path < m_current.size(); ++path)
    {
        if (m_current[path].empty() || !AreUp(m_current[path]))
        {
            broken.push_back(path);
        }
    }
    return broken;
}

uint64_t
DetourRoutes::GetCost(uint32_t link) const
{
    constexpr uint64_t hop = uint64_t{1} << 20; // as topology_gen.networks.network.HOP_COST
    return hop + m_links.Get(link).dimension;
}

bool
DetourRoutes::MayForward(uint32_t node) const
{
    return node >= m_topology.ranks || m_topology.ranksForward;
}

/// @return the cost of a shortest path from each node to a target; FAR if there is none
const std::vector<uint64_t>&
DetourRoutes::GetDistances(uint32_t target)
{
    std::vector<uint64_t>& distance = m_distances[target];
    if (!distance.empty())
    {
        return distance;
    }
    distance.assign(m_topology.nodes, FAR);
    distance[target] = 0;
    using Entry = std::pair<uint64_t, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    open.emplace(0, target);
    while (!open.empty())
    {
        const auto [cost, node] = open.top();
        open.pop();
        if (cost > distance[node] || (node != target && !MayForward(node)))
        {
            continue;
        }
        for (const uint32_t link : m_into[node])
        {
            const uint64_t further = cost + GetCost(link);
            const uint32_t source = m_links.Get(link).source;
            if (m_links.Get(link).isUp && further < distance[source])
            {
                distance[source] = further;
                open.emplace(further, source);
            }
        }
    }
    return distance;
}

/// @return true if a link is on a shortest path from its source to a target
bool
DetourRoutes::IsNearer(uint32_t link, uint32_t target, const std::vector<uint64_t>& distance) const
{
    const LinkState& state = m_links.Get(link);
    const bool mayPass = state.target == target || MayForward(state.target);
    return state.isUp && mayPass && distance[state.target] != FAR &&
           distance[state.target] + GetCost(link) == distance[state.source];
}

/// @return the number of shortest paths from each node to a target
const std::vector<uint64_t>&
DetourRoutes::GetWays(uint32_t target)
{
    std::vector<uint64_t>& ways = m_ways[target];
    if (!ways.empty())
    {
        return ways;
    }
    const std::vector<uint64_t>& distance = GetDistances(target);
    std::vector<uint32_t> nodes(m_topology.nodes);
    std::iota(nodes.begin(), nodes.end(), 0);
    std::sort(nodes.begin(), nodes.end(), [&distance](uint32_t one, uint32_t other) {
        return distance[one] < distance[other];
    });
    ways.assign(m_topology.nodes, 0);
    ways[target] = 1;
    for (const uint32_t node : nodes)
    {
        for (const uint32_t link : m_out[node])
        {
            if (IsNearer(link, target, distance))
            {
                ways[node] = std::min(MOST_WAYS, ways[node] + ways[m_links.Get(link).target]);
            }
        }
    }
    return ways;
}

/// @return the shortest path over the links that are up which the hash of the path's route selects;
/// empty if there is none
std::span<const uint32_t>
DetourRoutes::FindPath(uint32_t path)
{
    const uint32_t source = m_topology.pathSource[path];
    const uint32_t target = m_topology.pathTarget[path];
    const std::vector<uint64_t>& distance = GetDistances(target);
    if (distance[source] == FAR)
    {
        return {};
    }
    Path found;
    std::vector<uint32_t> nearer;
    for (uint32_t node = source; node != target; node = m_links.Get(found.back()).target)
    {
        nearer.clear();
        for (const uint32_t link : m_out[node])
        {
            if (IsNearer(link, target, distance))
            {
                nearer.push_back(link);
            }
        }
        const uint64_t choice = HashFlow(source, target, m_route[path], found.size());
        found.push_back(nearer[choice % nearer.size()]);
    }
    return *m_detours.insert(std::move(found)).first;
}

std::vector<std::span<const uint32_t>>
DetourRoutes::FindAlternatives(uint32_t path, uint32_t most)
{
    const uint32_t source = m_topology.pathSource[path];
    const uint32_t target = m_topology.pathTarget[path];
    const std::vector<uint64_t>& distance = GetDistances(target);
    const std::vector<uint64_t>& ways = GetWays(target);
    const uint64_t count = std::min<uint64_t>(most, ways[source]);
    std::vector<std::span<const uint32_t>> alternatives;
    for (uint64_t i = 0; i < count; ++i)
    {
        uint64_t number =
            (HashFlow(source, target, 0, 0) + i * ways[source] / count) % ways[source];
        Path found;
        for (uint32_t node = source; node != target; node = m_links.Get(found.back()).target)
        {
            for (const uint32_t link : m_out[node])
            {
                const uint64_t over =
                    IsNearer(link, target, distance) ? ways[m_links.Get(link).target] : 0;
                if (number < over)
                {
                    found.push_back(link);
                    break;
                }
                number -= over;
            }
        }
        alternatives.push_back(*m_detours.insert(std::move(found)).first);
    }
    return alternatives;
}

} // namespace cosim
