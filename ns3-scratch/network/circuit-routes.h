/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_ROUTES_H
#define COSIM_CIRCUIT_ROUTES_H

#include "network/link-routes.h"
#include "network/live-links.h"
#include "stream/stream.h"
#include "support/pair-index.h"

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
    /// Marks "no link".
    static constexpr uint32_t NONE = UINT32_MAX;

    /**
     * @param topology the topology at the start of the run, with reconfiguration; must outlive this
     * object
     * @param links the current links of the fabric; must outlive this object
     */
    CircuitRoutes(const Topology& topology, LiveLinks& links);

    // LinkRoutes
    std::vector<uint32_t> Apply(std::span<const LinkUpdate> updates) override;

    /**
     * Find the next link for a packet. The node need not be on the current path.
     *
     * @param node the node at which the packet is
     * @param path index of the packet's path in the topology
     * @return the link from the node toward the target of the path, or NONE if the packet must wait
     */
    uint32_t GetNext(uint32_t node, uint32_t path) const;

  private:
    static constexpr uint16_t FAR = UINT16_MAX;

    uint16_t GetDistance(uint32_t node, uint32_t target) const;
    void List(uint32_t link);
    void FindDistances();
    void FindPath(uint32_t path);
    std::vector<uint32_t> ListDependents(std::span<const LinkUpdate> updates);

    const Topology& m_topology;
    LiveLinks& m_links;
    PairIndex m_pathOf;                       //!< first path of each pair; the others follow it
    std::vector<uint32_t> m_route;            //!< per path: its index among the paths of its pair
    std::vector<std::vector<uint32_t>> m_out; //!< per rank: its links that are up, in order
    std::vector<uint32_t> m_found;            //!< buffer of FindPath
    bool m_isFirst{true};                     //!< true until the links change
    /// by target, then by rank; used only with forwarding [links]
    std::vector<uint16_t> m_distance;
};

} // namespace cosim

#endif // COSIM_CIRCUIT_ROUTES_H
