/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/circuit-links.h"

#include <algorithm>

namespace cosim
{

CircuitLinks::CircuitLinks(const Topology& topology)
    : m_topology(topology),
      m_linkOf(std::size_t{topology.ranks} * topology.ranks, NONE)
{
    const uint64_t rate = topology.reconfiguration.circuitRateBps;
    for (uint32_t link = 0; link < topology.linkSource.size(); ++link)
    {
        m_live.push_back(AddLink({topology.linkSource[link], topology.linkTarget[link]},
                                 static_cast<uint32_t>(topology.linkRateBps[link] / rate)));
    }
}

/// @return the id of a new link
uint32_t
CircuitLinks::AddLink(const Circuit& pair, uint32_t circuits)
{
    const auto link = static_cast<uint32_t>(m_links.size());
    m_links.push_back({pair, circuits});
    m_linkOf[IndexOf(pair)] = link;
    return link;
}

/// @return the index of a pair of ranks in m_linkOf
std::size_t
CircuitLinks::IndexOf(const Circuit& pair) const
{
    return std::size_t{pair.source} * m_topology.ranks + pair.target;
}

uint32_t
CircuitLinks::Plan(const std::vector<Circuit>& circuits)
{
    for (const uint32_t link : m_planned)
    {
        m_links[link].planned = 0;
    }
    m_planned.clear();
    uint32_t added = 0;
    for (const Circuit& circuit : circuits)
    {
        const uint32_t found = m_linkOf[IndexOf(circuit)];
        const uint32_t id = found == NONE ? AddLink(circuit, 0) : found;
        Link& link = m_links[id];
        if (link.planned == 0)
        {
            m_planned.push_back(id);
        }
        added += ++link.planned > link.circuits ? 1 : 0;
    }
    return added;
}

bool
CircuitLinks::IsPlanned(const Circuit& pair) const
{
    const uint32_t link = m_linkOf[IndexOf(pair)];
    return link != NONE && m_links[link].planned > 0;
}

std::vector<LinkUpdate>
CircuitLinks::Set()
{
    std::vector<LinkUpdate> updates;
    for (const uint32_t id : m_live)
    {
        const Link& link = m_links[id];
        if (link.planned == 0)
        {
            updates.push_back({id, MakeState(link.pair, link.circuits)});
            updates.back().state.isUp = false;
        }
    }
    for (const uint32_t id : m_planned)
    {
        const Link& link = m_links[id];
        if (link.planned != link.circuits)
        {
            updates.push_back({id, MakeState(link.pair, link.planned)});
        }
    }
    for (const LinkUpdate& update : updates)
    {
        m_links[update.link].circuits = m_links[update.link].planned;
    }
    m_live = m_planned;
    std::ranges::sort(updates, {}, &LinkUpdate::link);
    return updates;
}

/// @return the state of a link with a number of circuits, at least 1
LinkState
CircuitLinks::MakeState(const Circuit& pair, uint32_t circuits) const
{
    const Reconfiguration& settings = m_topology.reconfiguration;
    return {pair.source,
            pair.target,
            circuits * settings.circuitRateBps,
            settings.circuitLatencyPs,
            circuits * settings.circuitBufferBytes,
            circuits * settings.circuitEcnThresholdBytes,
            0,
            true};
}

} // namespace cosim
