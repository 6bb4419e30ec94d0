/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LIVE_LINKS_H
#define COSIM_LIVE_LINKS_H

#include "stream/stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A directed link as it is at some time.
struct LinkState
{
    uint32_t source;
    uint32_t target;
    uint64_t rateBps;
    uint64_t latencyPs;
    uint64_t bufferBytes;       //!< egress queue; 0: unlimited
    uint64_t ecnThresholdBytes; //!< queue length from which CE is set; 0: never
    uint32_t dimension;         //!< into Topology::dimensions
    bool isUp;                  //!< carries packets
};

/// A link that changes, or a new one.
struct LinkUpdate
{
    uint32_t link; //!< its id; a new link has the lowest free one
    LinkState state;
};

/**
 * The links and paths as they are now.
 *
 * A fabric owns them and reads them. They start as the topology's, and change only when the
 * fabric's LinkControl applies updates.
 */
class LiveLinks
{
  public:
    /// @param topology links and paths of the start; outlives this object
    explicit LiveLinks(const Topology& topology);

    LiveLinks(const LiveLinks&) = delete;
    LiveLinks& operator=(const LiveLinks&) = delete;

    /// @return how many links there are, those that are down included
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_links.size());
    }

    /// @return a link
    const LinkState& Get(uint32_t link) const
    {
        return m_links[link];
    }

    /// @return the links of a path from its source to its target; none if there is no way
    std::span<const uint32_t> GetPath(uint32_t path) const
    {
        const uint32_t begin = m_pathBegin[path];
        return m_pathLinks.subspan(begin, m_pathBegin[path + 1] - begin);
    }

    /// @param updates links that change, and new ones in the order of their ids
    void Update(std::span<const LinkUpdate> updates);

    /**
     * Replace all paths.
     *
     * @param begin per path, and at the end, an index into links
     * @param links of all paths
     */
    void SetPaths(std::vector<uint32_t> begin, std::vector<uint32_t> links);

  private:
    std::vector<LinkState> m_links;
    // Paths can take most of a topology's memory, so there is no copy of those that never change.
    std::span<const uint32_t> m_pathBegin;
    std::span<const uint32_t> m_pathLinks;
    std::vector<uint32_t> m_changedBegin; //!< empty until the first change
    std::vector<uint32_t> m_changedLinks;
};

} // namespace cosim

#endif // COSIM_LIVE_LINKS_H
