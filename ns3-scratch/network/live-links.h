/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LIVE_LINKS_H
#define COSIM_LIVE_LINKS_H

#include "stream/stream.h"
#include "support/packed-lists.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// State of a directed link at one time of the run.
struct LinkState
{
    uint32_t source;
    uint32_t target;
    uint64_t rateBps;
    uint64_t latencyPs;
    uint64_t bufferBytes;       //!< capacity of the egress queue; 0: unlimited
    uint64_t ecnThresholdBytes; //!< queue length from which packets are marked with CE; 0: never
    uint32_t dimension;         //!< index in Topology::dimensions
    bool isUp;                  //!< true if the link carries packets
    uint32_t lossPpb{0};        //!< part of the packets that it loses [10^-9]
    uint64_t ecnFullBytes{0};   //!< queue length from which all are marked; 0: ecnThresholdBytes
};

/// @return the rate at which a link delivers, without the part that it loses [bit/s]
inline uint64_t
GetGoodRateBps(const LinkState& link)
{
    constexpr uint64_t all = 1'000'000'000;
    return link.lossPpb == 0
               ? link.rateBps
               : std::max<uint64_t>(1,
                                    link.rateBps / all * (all - link.lossPpb) +
                                        link.rateBps % all * (all - link.lossPpb) / all);
}

/// New state of a changed link or of a new link.
struct LinkUpdate
{
    uint32_t link; //!< link id; a new link takes the lowest free id
    LinkState state;
};

/**
 * The current links and paths of a fabric.
 *
 * The fabric owns this object and reads from it. At the start the links and paths equal those of
 * the topology. They change only when the fabric's LinkControl applies updates.
 */
class LiveLinks
{
  public:
    /// @param topology links and paths at the start of the run; must outlive this object
    explicit LiveLinks(const Topology& topology);

    LiveLinks(const LiveLinks&) = delete;
    LiveLinks& operator=(const LiveLinks&) = delete;

    /// @return the number of links, including those that are down
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_links.size());
    }

    /// @return the state of a link
    const LinkState& Get(uint32_t link) const
    {
        return m_links[link];
    }

    /// @return the links of a path in order, from source to target; empty if there is no path now
    std::span<const uint32_t> GetPath(uint32_t path) const
    {
        return m_changedPaths.GetCount() == 0 ? GetOriginal(path) : m_changedPaths.Get(path);
    }

    /// @return a number that changes whenever links or paths change
    uint64_t GetVersion() const
    {
        return m_version;
    }

    /// @param updates changed links, and new links in the order of their ids
    void Update(std::span<const LinkUpdate> updates);

    /**
     * Replace a path.
     *
     * @param path the path
     * @param links its new links
     */
    void SetPath(uint32_t path, std::span<const uint32_t> links);

  private:
    std::span<const uint32_t> GetOriginal(uint32_t path) const
    {
        const uint32_t begin = m_pathBegin[path];
        return m_pathLinks.subspan(begin, m_pathBegin[path + 1] - begin);
    }

    std::vector<LinkState> m_links;
    // Paths can take most of the memory of a topology, so paths that never change are not copied.
    std::span<const uint32_t> m_pathBegin;
    std::span<const uint32_t> m_pathLinks;
    PackedLists<uint32_t> m_changedPaths; //!< all paths from the first change on, before that none
    uint64_t m_version{0};
};

} // namespace cosim

#endif // COSIM_LIVE_LINKS_H
