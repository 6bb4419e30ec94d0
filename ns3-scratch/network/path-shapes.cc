/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/path-shapes.h"

#include <utility>

namespace cosim
{

PathShapes::PathShapes(const Topology& topology, const PathIndex& paths)
    : m_topology(topology),
      m_paths(paths),
      m_memories(topology.sharedMemoryAlphaPpm > 0 ? topology.nodes : 0),
      m_shapes(topology.pathSource.size(), UNKNOWN)
{
    for (std::size_t link = 0; !m_memories.empty() && link < topology.linkSource.size(); ++link)
    {
        m_memories[topology.linkSource[link]] += topology.linkBufferBytes[link];
    }
}

void
PathShapes::GetParts(uint32_t path, std::vector<uint32_t>& parts) const
{
    const auto links = static_cast<uint32_t>(m_topology.linkSource.size());
    for (const uint32_t direction : {path, m_paths.GetReverse(path)})
    {
        for (uint32_t i = m_topology.pathBegin[direction]; i < m_topology.pathBegin[direction + 1];
             ++i)
        {
            const uint32_t link = m_topology.pathLinks[i];
            parts.push_back(link);
            if (!m_memories.empty())
            {
                parts.push_back(links + m_topology.linkSource[link]);
            }
        }
    }
}

uint32_t
PathShapes::Get(uint32_t path)
{
    uint32_t& shape = m_shapes[path];
    if (shape == UNKNOWN)
    {
        std::vector<uint32_t> kinds;
        GetParts(path, kinds);
        for (uint32_t& kind : kinds)
        {
            kind = GetKind(kind);
        }
        kinds.push_back(m_topology.pathBegin[path + 1] - m_topology.pathBegin[path]);
        const auto next = static_cast<uint32_t>(m_shapeOf.size());
        shape = m_shapeOf.try_emplace(std::move(kinds), next).first->second;
    }
    return shape;
}

/// @return a number that two parts share if they have the same properties
uint32_t
PathShapes::GetKind(uint32_t part)
{
    std::array<uint64_t, 5> properties{};
    if (IsLink(part))
    {
        const bool isOfRank = m_topology.linkSource[part] < m_topology.ranks;
        properties = {uint64_t{1} + (isOfRank ? 1 : 0), // a rank forwards with a delay
                      m_topology.linkRateBps[part],
                      m_topology.linkLatencyPs[part],
                      m_topology.linkBufferBytes[part],
                      m_topology.linkEcnThresholdBytes[part]};
    }
    else
    {
        properties[1] = m_memories[part - m_topology.linkSource.size()];
    }
    return m_kindOf.try_emplace(properties, static_cast<uint32_t>(m_kindOf.size())).first->second;
}

} // namespace cosim
