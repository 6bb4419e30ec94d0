/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/shared-links.h"

#include <algorithm>
#include <utility>

namespace cosim
{

SharedLinks::SharedLinks(const Topology& topology)
    : m_topology(topology),
      m_pathOf(topology.sharedLinks > 0 ? topology.ranks : 0,
               topology.sharedLinks > 0 ? topology.pathSource : std::vector<uint32_t>(),
               topology.sharedLinks > 0 ? topology.pathTarget : std::vector<uint32_t>()),
      m_bytes(topology.sharedLinks > 0 ? topology.pathSource.size() : 0),
      m_isUsed(m_bytes.size())
{
}

void
SharedLinks::OnMessageDelivered(const MessageEvent& event)
{
    const uint32_t path = m_pathOf.Find(event.src, event.dst) + event.route;
    m_bytes[path] += event.bytes;
    m_isUsed[path] = true;
}

std::vector<SharedLink>
SharedLinks::GetLinks() const
{
    std::vector<SharedLink> links(m_topology.linkSource.size());
    for (uint32_t link = 0; link < links.size(); ++link)
    {
        links[link].link = link;
    }
    for (uint32_t path = 0; path < m_bytes.size(); ++path)
    {
        for (uint32_t i = m_topology.pathBegin[path];
             m_isUsed[path] && i < m_topology.pathBegin[path + 1];
             ++i)
        {
            links[m_topology.pathLinks[i]].bytes += m_bytes[path];
            links[m_topology.pathLinks[i]].paths.push_back(path);
        }
    }
    std::erase_if(links, [this](const SharedLink& one) {
        return one.paths.size() < 2 || m_topology.linkSource[one.link] < m_topology.ranks ||
               m_topology.linkTarget[one.link] < m_topology.ranks;
    });
    std::stable_sort(links.begin(), links.end(), [](const SharedLink& a, const SharedLink& b) {
        return std::pair(a.paths.size(), a.bytes) > std::pair(b.paths.size(), b.bytes);
    });
    links.resize(std::min<std::size_t>(links.size(), m_topology.sharedLinks));
    return links;
}

} // namespace cosim
