/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-links.h"

#include <utility>

namespace cosim
{

ExpressLinks::ExpressLinks(const DatapathSetup& setup,
                           DatapathClient& client,
                           Transport& transport,
                           SwitchBuffers buffers,
                           PortMaker makePort)
    : m_clock(setup.clock),
      m_states(setup.links),
      m_largestBytes(setup.format.GetLargestBytes()),
      m_timeUnitPs(setup.format.timeUnitPs),
      m_client(client),
      m_transport(transport),
      m_buffers(std::move(buffers)),
      m_makePort(std::move(makePort))
{
}

void
ExpressLinks::Build(Port::Receiver& receiver)
{
    m_receiver = &receiver;
    for (uint32_t link = 0; link < m_states.GetCount(); ++link)
    {
        Set(link);
    }
}

void
ExpressLinks::Set(uint32_t link)
{
    const LinkState& state = m_states.Get(link);
    if (link == m_links.size())
    {
        m_links.push_back(m_makePort({m_clock, state, *m_buffers[state.source], *m_receiver}));
    }
    TransmissionTimes& times =
        m_times.try_emplace(state.rateBps, state.rateBps, m_largestBytes, m_timeUnitPs)
            .first->second;
    m_links[link]->Set(times, state);
}

void
ExpressLinks::Refuse(uint32_t link, Packet* packet)
{
    m_refusals += m_states.Get(link).isUp ? 0 : 1;
    Lose(link, packet);
}

void
ExpressLinks::Lose(uint32_t link, Packet* packet)
{
    m_client.OnDropped(link, packet->wireBytes);
    m_transport.Release(packet);
}

std::size_t
ExpressLinks::CountPackets() const
{
    std::size_t packets = 0;
    for (const auto& link : m_links)
    {
        packets += link->GetPackets();
    }
    return packets;
}

} // namespace cosim
