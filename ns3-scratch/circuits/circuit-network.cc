/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/circuit-network.h"

#include "stream/path-table.h"

#include <algorithm>
#include <numeric>

namespace cosim
{

namespace
{

/**
 * A number for a flow and a place on its way that looks random: SplitMix64's mixing function
 * (G. Steele, D. Lea, C. Flood, OOPSLA 2014), as topology_gen.networks.shortest_paths.flow_hash.
 */
uint64_t
HashFlow(uint32_t source, uint32_t target, uint64_t route, uint64_t hop)
{
    uint64_t word = PairOf(source, target);
    for (const uint64_t salt : {route, hop})
    {
        word += (salt + 1) * 0x9E3779B97F4A7C15;
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
        word ^= word >> 31;
    }
    return word >> 1;
}

} // namespace

CircuitNetwork::CircuitNetwork(const Topology& topology)
    : m_topology(topology),
      m_circuits(topology.linkSource.size())
{
    const uint64_t rate = topology.reconfiguration.circuitRateBps;
    for (uint32_t link = 0; link < m_circuits.size(); ++link)
    {
        m_linkOf[PairOf(topology.linkSource[link], topology.linkTarget[link])] = link;
        m_circuits[link] = static_cast<uint32_t>(topology.linkRateBps[link] / rate);
    }
    for (std::size_t path = 0; path < topology.pathSource.size(); ++path)
    {
        const bool isFurther = path > 0 &&
                               topology.pathSource[path] == topology.pathSource[path - 1] &&
                               topology.pathTarget[path] == topology.pathTarget[path - 1];
        m_route.push_back(isFurther ? m_route.back() + 1 : 0);
    }
    ListLinks();
    FindDistances();
}

uint32_t
CircuitNetwork::CountNew(const std::vector<Circuit>& circuits) const
{
    std::unordered_map<uint64_t, uint32_t> counts;
    uint32_t added = 0;
    for (const Circuit& circuit : circuits)
    {
        const uint64_t pair = PairOf(circuit.source, circuit.target);
        const auto link = m_linkOf.find(pair);
        const uint32_t before = link == m_linkOf.end() ? 0 : m_circuits[link->second];
        added += ++counts[pair] > before ? 1 : 0;
    }
    return added;
}

void
CircuitNetwork::Set(const std::vector<Circuit>& circuits)
{
    const Reconfiguration& settings = m_topology.reconfiguration;
    std::fill(m_circuits.begin(), m_circuits.end(), 0);
    for (const Circuit& circuit : circuits)
    {
        ++m_circuits[GetLink(PairOf(circuit.source, circuit.target))];
    }
    for (uint32_t link = 0; link < m_circuits.size(); ++link)
    {
        if (const uint64_t count = m_circuits[link]; count > 0)
        { // a link without circuits keeps its rate, for what is on its way
            m_topology.linkRateBps[link] = count * settings.circuitRateBps;
            m_topology.linkBufferBytes[link] = count * settings.circuitBufferBytes;
            m_topology.linkEcnThresholdBytes[link] = count * settings.circuitEcnThresholdBytes;
        }
    }
    ListLinks();
    FindDistances();
    FindPaths();
}

/// @return the link of a pair, a new one without circuits if it has none
uint32_t
CircuitNetwork::GetLink(uint64_t pair)
{
    const auto [found, isNew] = m_linkOf.try_emplace(pair, m_circuits.size());
    if (isNew)
    {
        const Reconfiguration& settings = m_topology.reconfiguration;
        m_circuits.push_back(0);
        m_topology.linkSource.push_back(static_cast<uint32_t>(pair >> 32));
        m_topology.linkTarget.push_back(static_cast<uint32_t>(pair));
        m_topology.linkRateBps.push_back(settings.circuitRateBps);
        m_topology.linkLatencyPs.push_back(settings.circuitLatencyPs);
        m_topology.linkBufferBytes.push_back(settings.circuitBufferBytes);
        m_topology.linkEcnThresholdBytes.push_back(settings.circuitEcnThresholdBytes);
        m_topology.linkDimension.push_back(0);
    }
    return found->second;
}

/// Find out which links leave each rank.
void
CircuitNetwork::ListLinks()
{
    m_outBegin.assign(m_topology.ranks + 1, 0);
    for (uint32_t link = 0; link < m_circuits.size(); ++link)
    {
        m_outBegin[m_topology.linkSource[link] + 1] += m_circuits[link] > 0 ? 1 : 0;
    }
    std::partial_sum(m_outBegin.begin(), m_outBegin.end(), m_outBegin.begin());
    m_out.resize(m_outBegin.back());
    std::vector<uint32_t> next(m_outBegin);
    for (uint32_t link = 0; link < m_circuits.size(); ++link)
    {
        if (m_circuits[link] > 0)
        {
            m_out[next[m_topology.linkSource[link]]++] = link;
        }
    }
}

/// Find the distances of all ranks to all, by breadth-first searches from each.
void
CircuitNetwork::FindDistances()
{
    if (!m_topology.reconfiguration.forwarding)
    {
        return;
    }
    const std::size_t ranks = m_topology.ranks;
    std::vector<std::vector<uint32_t>> into(ranks);
    for (const uint32_t link : m_out)
    {
        into[m_topology.linkTarget[link]].push_back(m_topology.linkSource[link]);
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
CircuitNetwork::GetDistance(uint32_t node, uint32_t target) const
{
    if (m_topology.reconfiguration.forwarding)
    {
        return m_distance[std::size_t{target} * m_topology.ranks + node];
    }
    return node == target ? 0 : FAR; // only neighbours are near
}

uint32_t
CircuitNetwork::GetNext(uint32_t node, uint32_t path) const
{
    const uint32_t source = m_topology.pathSource[path];
    const uint32_t target = m_topology.pathTarget[path];
    const int shorter = m_topology.reconfiguration.forwarding ? GetDistance(node, target) - 1 : 0;
    uint32_t found = NONE;
    uint32_t count = 0;
    for (uint32_t i = m_outBegin[node]; i < m_outBegin[node + 1]; ++i)
    {
        const bool isNearer = GetDistance(m_topology.linkTarget[m_out[i]], target) == shorter;
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
        if (GetDistance(m_topology.linkTarget[m_out[i]], target) == shorter && choice-- == 0)
        {
            return m_out[i];
        }
    }
    return NONE;
}

void
CircuitNetwork::FindPaths()
{
    m_topology.pathLinks.clear();
    for (uint32_t path = 0; path < m_route.size(); ++path)
    {
        m_topology.pathBegin[path] = static_cast<uint32_t>(m_topology.pathLinks.size());
        uint32_t node = m_topology.pathSource[path];
        while (node != m_topology.pathTarget[path])
        {
            const uint32_t link = GetNext(node, path);
            if (link == NONE)
            {
                break;
            }
            m_topology.pathLinks.push_back(link);
            node = m_topology.linkTarget[link];
        }
    }
    m_topology.pathBegin.back() = static_cast<uint32_t>(m_topology.pathLinks.size());
}

} // namespace cosim
