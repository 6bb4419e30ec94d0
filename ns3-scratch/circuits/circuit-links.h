/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_LINKS_H
#define COSIM_CIRCUIT_LINKS_H

#include "circuits/optical-circuits.h"
#include "network/live-links.h"
#include "stream/stream.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * The links that circuits make.
 *
 * A link is an ordered pair of ranks. Parallel circuits are one link of their total rate, which
 * stripes packets over them ideally. A link without circuits keeps its id and is down.
 */
class CircuitLinks
{
  public:
    /// @param topology of the start, with reconfiguration; outlives this object
    explicit CircuitLinks(const Topology& topology);

    /**
     * @param circuits in any order
     * @return how many of them are not there yet
     */
    uint32_t CountNew(const std::vector<Circuit>& circuits) const;

    /**
     * Replace all circuits.
     *
     * @param circuits all that there are from now on
     * @return the links that change, and new ones, in the order of their ids
     */
    std::vector<LinkUpdate> Set(const std::vector<Circuit>& circuits);

  private:
    LinkState MakeState(uint32_t link, uint32_t circuits) const;

    const Topology& m_topology;
    std::unordered_map<uint64_t, uint32_t> m_linkOf; //!< by pair
    std::vector<uint64_t> m_pairs;                   //!< per link
    std::vector<uint32_t> m_counts;                  //!< per link, its circuits
};

} // namespace cosim

#endif // COSIM_CIRCUIT_LINKS_H
