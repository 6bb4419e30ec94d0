/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_NETWORK_H
#define COSIM_CIRCUIT_NETWORK_H

#include "circuits/optical-circuits.h"
#include "stream/stream.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * The links that circuits make, and the ways over them, as they are now.
 *
 * A link is an ordered pair of ranks; parallel circuits are one link of their joint rate, which
 * stripes packets over them ideally. A link without circuits keeps its place, and carries nothing.
 *
 * With forwarding, packets take shortest ways: a neighbour's link, and else, wherever several links
 * are equally short, the one that a hash of the pair, the route and the place on the way chooses.
 * These are the paths of topology_gen.networks.shortest_paths, so that those of the stream hold
 * until the circuits change. Without forwarding there is a way only over a link.
 */
class CircuitNetwork
{
  public:
    /// No link.
    static constexpr uint32_t NONE = UINT32_MAX;

    /// @param topology that of the start, with reconfiguration
    explicit CircuitNetwork(const Topology& topology);

    /// @return the links and paths as they are now; a path without links has no way
    const Topology& GetTopology() const
    {
        return m_topology;
    }

    /**
     * @param circuits in any order
     * @return how many of them are not there yet
     */
    uint32_t CountNew(const std::vector<Circuit>& circuits) const;

    /// @param circuits all that there are from now on; the others are gone
    void Set(const std::vector<Circuit>& circuits);

    /**
     * @param node a rank
     * @param path one of the topology's
     * @return the link from the node on which a packet of that path goes on to the path's target,
     * wherever the path leads, or NONE
     */
    uint32_t GetNext(uint32_t node, uint32_t path) const;

  private:
    static constexpr uint16_t FAR = UINT16_MAX;

    uint32_t GetLink(uint64_t pair);
    uint16_t GetDistance(uint32_t node, uint32_t target) const;
    void ListLinks();
    void FindDistances();
    void FindPaths();

    Topology m_topology;
    std::unordered_map<uint64_t, uint32_t> m_linkOf; //!< by pair
    std::vector<uint32_t> m_circuits;                //!< per link, how many
    std::vector<uint32_t> m_route;                   //!< per path, which of its pair
    std::vector<uint32_t> m_outBegin;                //!< per rank, into m_out
    std::vector<uint32_t> m_out;                     //!< links with circuits
    std::vector<uint16_t> m_distance; //!< by target, then rank; with forwarding [links]
};

} // namespace cosim

#endif // COSIM_CIRCUIT_NETWORK_H
