/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/live-links.h"

namespace cosim
{

LiveLinks::LiveLinks(const Topology& topology)
    : m_pathBegin(topology.pathBegin),
      m_pathLinks(topology.pathLinks)
{
    m_links.reserve(topology.linkSource.size());
    for (std::size_t link = 0; link < topology.linkSource.size(); ++link)
    {
        m_links.push_back(
            {topology.linkSource[link],
             topology.linkTarget[link],
             topology.linkRateBps[link],
             topology.linkLatencyPs[link],
             topology.linkBufferBytes[link],
             topology.linkEcnThresholdBytes[link],
             topology.linkDimension[link],
             true,
             topology.linkLossPpb.empty() ? 0 : topology.linkLossPpb[link],
             topology.linkEcnFullBytes.empty() ? 0 : topology.linkEcnFullBytes[link]});
    }
}

void
LiveLinks::Update(std::span<const LinkUpdate> updates)
{
    ++m_version;
    for (const LinkUpdate& update : updates)
    {
        if (update.link == m_links.size())
        {
            m_links.emplace_back();
        }
        m_links[update.link] = update.state;
    }
}

void
LiveLinks::SetPath(uint32_t path, std::span<const uint32_t> links)
{
    ++m_version;
    if (m_changedPaths.GetCount() == 0)
    {
        m_changedPaths = PackedLists<uint32_t>(m_pathBegin.size() - 1);
        for (uint32_t id = 0; id < m_changedPaths.GetCount(); ++id)
        {
            m_changedPaths.Set(id, GetOriginal(id));
        }
    }
    m_changedPaths.Set(path, links);
}

} // namespace cosim
