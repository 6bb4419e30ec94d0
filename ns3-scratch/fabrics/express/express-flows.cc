/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-flows.h"

#include "ns3/data-rate.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

ExpressFlows::ExpressFlows(const DatapathSetup& setup, Transport& transport)
    : m_topology(setup.topology),
      m_links(setup.links),
      m_transport(transport),
      m_formats(setup.formats),
      m_connections(setup.topology.pathSource.size())
{
    for (uint32_t number = 0; number < setup.settings.CountTransports(); ++number)
    {
        m_dataClasses.push_back(cosim::GetDataClass(setup.settings.GetTransport(number)));
    }
    for (FlowId flow = 0; flow < m_connections.size(); ++flow)
    {
        m_connections[flow].reverse = setup.paths.GetReverse(flow);
    }
}

Handshake
ExpressFlows::GetHandshake(FlowId flow) const
{
    const uint32_t bytes = m_transport.GetHandshakeBytes(flow);
    const uint32_t payload = m_formats.Get(flow).payloadBytes;
    Handshake handshake{m_handshakes == nullptr ? Time() : m_handshakes->GetStart(flow),
                        Time(),
                        Time(),
                        Time()};
    for (const FlowId direction : {flow, m_connections[flow].reverse})
    {
        bool isFirst = true;
        // Without a path in the reverse direction, assume that it takes as long as the forward
        // path.
        const bool isThere = !m_links.GetPath(direction).empty();
        for (const uint32_t id : m_links.GetPath(isThere ? direction : flow))
        {
            const LinkState& link = m_links.Get(id);
            handshake.baseRtt += TimeStep(link.latencyPs);
            if (direction == flow)
            {
                handshake.baseRtt += DataRate(link.rateBps).CalculateBytesTxTime(payload);
                handshake.firstBps = isFirst ? link.rateBps : handshake.firstBps;
                handshake.slowestBps =
                    isFirst ? link.rateBps : std::min(handshake.slowestBps, link.rateBps);
            }
            handshake.rtt +=
                DataRate(link.rateBps).CalculateBytesTxTime(bytes) + TimeStep(link.latencyPs);
            if (!isFirst && link.source < m_topology.ranks)
            {
                handshake.rtt += TimeStep(m_topology.forwardingDelayPs);
            }
            isFirst = false;
        }
        if (direction == flow)
        {
            handshake.forward = handshake.rtt;
        }
    }
    return handshake;
}

} // namespace cosim
