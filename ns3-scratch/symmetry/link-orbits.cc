/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "symmetry/link-orbits.h"

#include "support/disjoint-sets.h"

#include <numeric>
#include <utility>

namespace cosim
{

namespace
{

constexpr uint32_t NONE = UINT32_MAX;

} // namespace

LinkOrbits::LinkOrbits(const Topology& topology)
    : m_topology(topology),
      m_paths(topology),
      m_isCrossed(topology.linkSource.size()),
      m_first(topology.linkSource.size())
{
    std::iota(m_first.begin(), m_first.end(), 0U);
    for (const uint32_t link : topology.pathLinks)
    {
        m_isCrossed[link] = true;
    }
}

bool
LinkOrbits::Add(const Rotation& rotation, uint32_t copies)
{
    const std::optional<std::vector<uint32_t>> images = FindImages(rotation);
    if (!images)
    {
        return false;
    }
    DisjointSets orbits(static_cast<uint32_t>(m_first.size()));
    for (uint32_t link = 0; link < m_first.size(); ++link)
    {
        orbits.Unite(link, m_first[link]);
        orbits.Unite(link, m_isCrossed[link] ? (*images)[link] : link);
    }
    std::vector<uint32_t> first(m_first.size());
    for (uint32_t link = 0; link < first.size(); ++link)
    {
        first[link] = orbits.Find(link);
    }
    if (!IsFree(first, copies))
    {
        return false;
    }
    m_first = std::move(first);
    return true;
}

/// @return per link: where a rotation brings it; nothing if the network does not look the same
std::optional<std::vector<uint32_t>>
LinkOrbits::FindImages(const Rotation& rotation) const
{
    std::vector<uint32_t> links(m_first.size(), NONE);
    for (uint32_t path = 0; path < m_topology.pathSource.size(); ++path)
    {
        const Rank source = rotation.Move(m_topology.pathSource[path]);
        const Rank target = rotation.Move(m_topology.pathTarget[path]);
        if (!m_paths.Has(source, target))
        {
            return std::nullopt;
        }
        const uint32_t image = m_paths.Find(source, target, m_paths.GetRoute(path));
        if (image >= m_topology.pathSource.size() || m_topology.pathSource[image] != source ||
            m_topology.pathTarget[image] != target || !Bring(path, image, links))
        {
            return std::nullopt;
        }
    }
    std::vector<bool> isImage(links.size());
    for (const uint32_t link : links)
    {
        if (link == NONE)
        {
            continue;
        }
        if (isImage[link])
        {
            return std::nullopt;
        }
        isImage[link] = true;
    }
    return links;
}

/// Note that the links of a path go to those of another one. @return whether this can be
bool
LinkOrbits::Bring(uint32_t path, uint32_t image, std::vector<uint32_t>& links) const
{
    const uint32_t begin = m_topology.pathBegin[path];
    const uint32_t hops = m_topology.pathBegin[path + 1] - begin;
    const uint32_t other = m_topology.pathBegin[image];
    if (m_topology.pathBegin[image + 1] - other != hops)
    {
        return false;
    }
    for (uint32_t hop = 0; hop < hops; ++hop)
    {
        const uint32_t from = m_topology.pathLinks[begin + hop];
        const uint32_t to = m_topology.pathLinks[other + hop];
        if (links[from] == NONE && AreAlike(from, to))
        {
            links[from] = to;
        }
        if (links[from] != to)
        {
            return false;
        }
    }
    return true;
}

bool
LinkOrbits::AreAlike(uint32_t link, uint32_t other) const
{
    const Topology& t = m_topology;
    return t.linkRateBps[link] == t.linkRateBps[other] &&
           t.linkLatencyPs[link] == t.linkLatencyPs[other] &&
           t.linkBufferBytes[link] == t.linkBufferBytes[other] &&
           t.linkEcnThresholdBytes[link] == t.linkEcnThresholdBytes[other] &&
           t.linkDimension[link] == t.linkDimension[other] &&
           t.IsRank(t.linkSource[link]) == t.IsRank(t.linkSource[other]);
}

/// @return whether orbits have as many links as ranks have copies, and no path crosses two of one
bool
LinkOrbits::IsFree(const std::vector<uint32_t>& first, uint32_t copies) const
{
    std::vector<uint32_t> size(first.size());
    for (uint32_t link = 0; link < first.size(); ++link)
    {
        ++size[first[link]];
    }
    for (uint32_t link = 0; link < first.size(); ++link)
    {
        if (m_isCrossed[link] && size[first[link]] != copies)
        {
            return false;
        }
    }
    std::vector<uint32_t> crossedBy(first.size(), NONE);
    for (uint32_t path = 0; path < m_topology.pathSource.size(); ++path)
    {
        for (uint32_t hop = m_topology.pathBegin[path]; hop < m_topology.pathBegin[path + 1]; ++hop)
        {
            if (std::exchange(crossedBy[first[m_topology.pathLinks[hop]]], path) == path)
            {
                return false;
            }
        }
    }
    return true;
}

} // namespace cosim
