/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_ROUTES_H
#define COSIM_LINK_ROUTES_H

#include "network/live-links.h"
#include "stream/stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Shortest paths over links between ranks that change during a run.
 *
 * With forwarding, packets take shortest paths: the direct link if there is one. Where several
 * links are equally short, a hash of the pair, the route and the hop chooses one. These are the
 * paths of topology_gen.networks.shortest_paths, so the stream's paths hold until the links change.
 * Without forwarding, a path is a direct link, or there is none.
 */
class LinkRoutes
{
  public:
    /// No link.
    static constexpr uint32_t NONE = UINT32_MAX;

    /**
     * @param topology of the start, with reconfiguration; outlives this object
     * @param links its links; outlive this object
     */
    LinkRoutes(const Topology& topology, LiveLinks& links);

    /**
     * Change links, and let the paths follow them.
     *
     * @param updates see LinkControl::ApplyLinks
     */
    void Apply(std::span<const LinkUpdate> updates);

    /**
     * Find the next hop, also for a node that the path does not visit.
     *
     * @param node a rank
     * @param path one of the topology's
     * @return the link from the node on which a packet of that path continues to the path's target,
     * or NONE
     */
    uint32_t GetNext(uint32_t node, uint32_t path) const;

  private:
    static constexpr uint16_t FAR = UINT16_MAX;

    uint16_t GetDistance(uint32_t node, uint32_t target) const;
    void ListLinks();
    void FindDistances();
    void FindPaths();

    const Topology& m_topology;
    LiveLinks& m_links;
    std::vector<uint32_t> m_route;    //!< per path, which of its pair
    std::vector<uint32_t> m_outBegin; //!< per rank, into m_out
    std::vector<uint32_t> m_out;      //!< links that are up
    std::vector<uint16_t> m_distance; //!< by target, then rank; with forwarding [links]
};

} // namespace cosim

#endif // COSIM_LINK_ROUTES_H
