/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DETOUR_ROUTES_H
#define COSIM_DETOUR_ROUTES_H

#include "network/link-routes.h"
#include "network/live-links.h"
#include "stream/stream.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Paths around links that are down.
 *
 * A path whose links are all up is the path of the stream. After Reroute, a path with a link that
 * is down is a shortest path over the other links; of paths with equally many links, those with
 * more links of an earlier dimension are shorter. If a packet can continue over several links, a
 * hash of the pair, the route and the hop selects one. The paths equal those of
 * topology_gen.networks.shortest_paths over the links that are up.
 */
class DetourRoutes : public LinkRoutes
{
  public:
    /// What a path is between the failure of one of its links and Reroute, or without a detour.
    enum class Broken
    {
        STANDS_STILL, //!< it has no links, so nothing moves
        STAYS,        //!< it keeps its links, on which packets are lost
    };

    /**
     * @param topology the topology at the start of the run; must outlive this object
     * @param links the current links of the fabric; must outlive this object
     * @param broken what a path with a link that is down is
     */
    DetourRoutes(const Topology& topology, LiveLinks& links, Broken broken);

    // LinkRoutes
    std::vector<uint32_t> Apply(std::span<const LinkUpdate> updates) override;
    uint32_t Reroute() override;
    std::vector<uint32_t> GetBrokenPaths() const override;

    /**
     * @param path index of a path of the topology
     * @return its current links. The span stays valid, also when the path changes.
     */
    std::span<const uint32_t> GetPath(uint32_t path) const
    {
        return m_current[path];
    }

    /**
     * Find several shortest paths over the links that are up. As in
     * topology_gen.networks.shortest_paths, the shortest paths of a pair have numbers, and the
     * found ones have numbers that are equally far apart.
     *
     * @param path index of a path of the topology
     * @param most largest number of paths
     * @return different paths, which stay valid; empty if there is none
     */
    std::vector<std::span<const uint32_t>> FindAlternatives(uint32_t path, uint32_t most);

  private:
    using Path = std::vector<uint32_t>;

    static constexpr uint64_t FAR = UINT64_MAX;
    /// Shortest paths of a pair that are told apart.
    static constexpr uint64_t MOST_WAYS = uint64_t{1} << 40;

    uint64_t GetCost(uint32_t link) const;
    bool MayForward(uint32_t node) const;
    const std::vector<uint64_t>& GetDistances(uint32_t target);
    const std::vector<uint64_t>& GetWays(uint32_t target);
    bool IsNearer(uint32_t link, uint32_t target, const std::vector<uint64_t>& distance) const;
    std::span<const uint32_t> FindPath(uint32_t path);
    std::span<const uint32_t> GetOriginal(uint32_t path) const;
    bool AreUp(std::span<const uint32_t> links) const;
    void Publish();

    const Topology& m_topology;
    LiveLinks& m_links;
    const Broken m_broken;
    std::vector<uint32_t> m_route; //!< per path: its index among those of its pair
    std::vector<std::span<const uint32_t>> m_current; //!< per path: its links
    std::set<Path> m_detours;                         //!< all detours so far, whose addresses stay
    std::vector<std::vector<uint32_t>> m_out;         //!< per node: the links that leave it
    std::vector<std::vector<uint32_t>> m_into;        //!< per node: the links that enter it
    /// per target: distance of each node over the links that are up, computed on demand
    std::map<uint32_t, std::vector<uint64_t>> m_distances;
    /// per target: number of shortest paths from each node, computed on demand
    std::map<uint32_t, std::vector<uint64_t>> m_ways;
};

} // namespace cosim

#endif // COSIM_DETOUR_ROUTES_H
