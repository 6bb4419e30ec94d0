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
 * Computes the links that result from a set of circuits.
 *
 * A link is an ordered pair of ranks. Parallel circuits form one link with their total rate, which
 * models ideal striping of packets. A link without circuits keeps its id and is down.
 */
class CircuitLinks
{
  public:
    /**
     * @param topology the topology at the start of the run, with reconfiguration; must outlive this
     * object
     */
    explicit CircuitLinks(const Topology& topology);

    /**
     * @param circuits circuits in any order
     * @return the number of these circuits that do not exist yet
     */
    uint32_t CountNew(const std::vector<Circuit>& circuits) const;

    /**
     * Replace all circuits.
     *
     * @param circuits the new set of all circuits
     * @return changed and new links, in the order of their ids
     */
    std::vector<LinkUpdate> Set(const std::vector<Circuit>& circuits);

  private:
    LinkState MakeState(uint32_t link, uint32_t circuits) const;

    const Topology& m_topology;
    std::unordered_map<uint64_t, uint32_t> m_linkOf; //!< keyed by pair of ranks
    std::vector<uint64_t> m_pairs;                   //!< per link: its pair of ranks
    std::vector<uint32_t> m_counts;                  //!< per link: number of its circuits
};

} // namespace cosim

#endif // COSIM_CIRCUIT_LINKS_H
