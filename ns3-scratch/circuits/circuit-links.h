/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_LINKS_H
#define COSIM_CIRCUIT_LINKS_H

#include "circuits/optical-circuits.h"
#include "network/live-links.h"
#include "stream/stream.h"

#include <cstddef>
#include <cstdint>
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
     * Plan to replace all circuits. If there are new ones, call Set before the next plan.
     *
     * @param circuits the new set of all circuits, in any order
     * @return the number of these circuits that do not exist yet
     */
    uint32_t Plan(const std::vector<Circuit>& circuits);

    /// @return true if the plan has a circuit for a pair of ranks
    bool IsPlanned(const Circuit& pair) const;

    /**
     * Replace all circuits by the planned ones.
     *
     * @return changed and new links, in the order of their ids
     */
    std::vector<LinkUpdate> Set();

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Link
    {
        Circuit pair;        //!< its ranks
        uint32_t circuits;   //!< number of its circuits
        uint32_t planned{0}; //!< number of its planned circuits
    };

    uint32_t AddLink(const Circuit& pair, uint32_t circuits);
    std::size_t IndexOf(const Circuit& pair) const;
    LinkState MakeState(const Circuit& pair, uint32_t circuits) const;

    const Topology& m_topology;
    std::vector<Link> m_links;
    std::vector<uint32_t> m_linkOf;  //!< by source, then by target: the link of a pair, or NONE
    std::vector<uint32_t> m_live;    //!< links with circuits
    std::vector<uint32_t> m_planned; //!< links with planned circuits
};

} // namespace cosim

#endif // COSIM_CIRCUIT_LINKS_H
