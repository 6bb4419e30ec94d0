/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_ROUTES_H
#define COSIM_CIRCUIT_ROUTES_H

#include "network/link-routes.h"
#include "network/live-links.h"
#include "stream/stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Computes shortest paths between ranks over links that change during a run.
 *
 * With forwarding, a packet takes a shortest path, so it takes the direct link if there is one. If
 * several next links are equally short, a hash of the pair, the route and the hop selects one. The
 * paths equal those of topology_gen.networks.shortest_paths, so the paths of the stream stay valid
 * until the links change. Without forwarding, a path is one direct link; a pair without a direct
 * link has no path.
 */
class CircuitRoutes : public LinkRoutes
{
  public:
    /**
     * @param topology the topology at the start of the run, with reconfiguration; must outlive this
     * object
     * @param links the current links of the fabric; must outlive this object
     */
    CircuitRoutes(const Topology& topology, LiveLinks& links);

    // LinkRoutes
    void Apply(std::span<const LinkUpdate> updates) override;
    uint32_t GetNext(uint32_t node, uint32_t path) const override;

  private:
    static constexpr uint16_t FAR = UINT16_MAX;

    uint16_t GetDistance(uint32_t node, uint32_t target) const;
    void ListLinks();
    void FindDistances();
    void FindPaths();

    const Topology& m_topology;
    LiveLinks& m_links;
    std::vector<uint32_t> m_route;    //!< per path: its index among the paths of its pair
    std::vector<uint32_t> m_outBegin; //!< per rank: index of its first link in m_out
    std::vector<uint32_t> m_out;      //!< ids of the links that are up, grouped by source rank
    /// by target, then by rank; used only with forwarding [links]
    std::vector<uint16_t> m_distance;
};

} // namespace cosim

#endif // COSIM_CIRCUIT_ROUTES_H
