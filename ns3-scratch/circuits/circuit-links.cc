/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/circuit-links.h"

#include "stream/path-table.h"

namespace cosim
{

CircuitLinks::CircuitLinks(const Topology& topology)
    : m_topology(topology)
{
    const uint64_t rate = topology.reconfiguration.circuitRateBps;
    for (uint32_t link = 0; link < topology.linkSource.size(); ++link)
    {
        m_pairs.push_back(PairOf(topology.linkSource[link], topology.linkTarget[link]));
        m_linkOf[m_pairs.back()] = link;
        m_counts.push_back(static_cast<uint32_t>(topology.linkRateBps[link] / rate));
    }
}

uint32_t
CircuitLinks::CountNew(const std::vector<Circuit>& circuits) const
{
    std::unordered_map<uint64_t, uint32_t> counts;
    uint32_t added = 0;
    for (const Circuit& circuit : circuits)
    {
        const uint64_t pair = PairOf(circuit.source, circuit.target);
        const auto link = m_linkOf.find(pair);
        const uint32_t before = link == m_linkOf.end() ? 0 : m_counts[link->second];
        added += ++counts[pair] > before ? 1 : 0;
    }
    return added;
}

std::vector<LinkUpdate>
CircuitLinks::Set(const std::vector<Circuit>& circuits)
{
    std::vector<uint32_t> counts(m_counts.size());
    for (const Circuit& circuit : circuits)
    {
        const uint64_t pair = PairOf(circuit.source, circuit.target);
        const auto [found, isNew] = m_linkOf.try_emplace(pair, counts.size());
        if (isNew)
        {
            m_pairs.push_back(pair);
            m_counts.push_back(0);
            counts.push_back(0);
        }
        ++counts[found->second];
    }
    std::vector<LinkUpdate> updates;
    for (uint32_t link = 0; link < counts.size(); ++link)
    {
        if (counts[link] > 0 && counts[link] != m_counts[link])
        {
            updates.push_back({link, MakeState(link, counts[link])});
        }
        else if (counts[link] < m_counts[link])
        {
            updates.push_back({link, MakeState(link, m_counts[link])});
            updates.back().state.isUp = false;
        }
    }
    m_counts = counts;
    return updates;
}

/// @return the state of a link with a number of circuits, at least 1
LinkState
CircuitLinks::MakeState(uint32_t link, uint32_t circuits) const
{
    const Reconfiguration& settings = m_topology.reconfiguration;
    return {static_cast<uint32_t>(m_pairs[link] >> 32),
            static_cast<uint32_t>(m_pairs[link]),
            circuits * settings.circuitRateBps,
            settings.circuitLatencyPs,
            circuits * settings.circuitBufferBytes,
            circuits * settings.circuitEcnThresholdBytes,
            0,
            true};
}

} // namespace cosim
