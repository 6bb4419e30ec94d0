/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/zones.h"

#include "support/disjoint-sets.h"

namespace cosim
{

Zones::Zones(const Topology& topology, const PathIndex& paths)
    : m_zones(topology.pathSource.size())
{
    if (topology.HasCircuits() || topology.HasLinkEvents() || topology.spread != PathSpread::FLOW)
    {
        m_count = m_zones.empty() ? 0 : 1;
        return;
    }
    // The items are links, after them nodes (their shared memory), and after them paths.
    const auto links = static_cast<uint32_t>(topology.linkSource.size());
    const uint32_t firstPath = links + topology.nodes;
    DisjointSets sets(firstPath + static_cast<uint32_t>(m_zones.size()));
    for (uint32_t path = 0; path < m_zones.size(); ++path)
    {
        sets.Unite(firstPath + path, firstPath + paths.GetReverse(path));
        for (uint32_t i = topology.pathBegin[path]; i < topology.pathBegin[path + 1]; ++i)
        {
            const uint32_t link = topology.pathLinks[i];
            sets.Unite(firstPath + path, link);
            if (topology.sharedMemoryAlphaPpm > 0 || topology.pauseFrameBytes > 0)
            {
                sets.Unite(link, links + topology.linkSource[link]);
            }
        }
    }
    constexpr uint32_t none = UINT32_MAX;
    std::vector<uint32_t> numbers(firstPath + m_zones.size(), none);
    for (uint32_t path = 0; path < m_zones.size(); ++path)
    {
        uint32_t& number = numbers[sets.Find(firstPath + path)];
        if (number == none)
        {
            number = m_count++;
        }
        m_zones[path] = number;
    }
}

} // namespace cosim
