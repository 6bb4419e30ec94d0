/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/zones.h"

#include <cstddef>
#include <numeric>

namespace cosim
{

namespace
{

/// Sets of items that are joined (Tarjan's union–find, with path halving).
class JoinedSets
{
  public:
    /// @param items number of items, each of which is a set at first
    explicit JoinedSets(std::size_t items)
        : m_parents(items)
    {
        std::iota(m_parents.begin(), m_parents.end(), 0);
    }

    /// @return the item that stands for the set of an item
    uint32_t Find(uint32_t item)
    {
        while (m_parents[item] != item)
        {
            m_parents[item] = m_parents[m_parents[item]];
            item = m_parents[item];
        }
        return item;
    }

    /// Join the sets of two items.
    void Join(uint32_t a, uint32_t b)
    {
        m_parents[Find(a)] = Find(b);
    }

  private:
    std::vector<uint32_t> m_parents;
};

} // namespace

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
    JoinedSets sets(firstPath + m_zones.size());
    for (uint32_t path = 0; path < m_zones.size(); ++path)
    {
        sets.Join(firstPath + path, firstPath + paths.GetReverse(path));
        for (uint32_t i = topology.pathBegin[path]; i < topology.pathBegin[path + 1]; ++i)
        {
            const uint32_t link = topology.pathLinks[i];
            sets.Join(firstPath + path, link);
            if (topology.sharedMemoryAlphaPpm > 0 || topology.pauseFrameBytes > 0)
            {
                sets.Join(link, links + topology.linkSource[link]);
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
