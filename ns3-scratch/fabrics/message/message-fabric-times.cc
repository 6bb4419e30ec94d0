/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of MessageFabric that computes what links and paths take.

#include "fabrics/message/message-fabric.h"
#include "support/wide-arithmetic.h"

#include <cstdint>
#include <span>

namespace cosim
{

uint64_t
MessageFabric::TransmissionPs(uint64_t bytes, uint32_t link) const
{
    return MultiplyDivideUp(bytes, BYTE_PS, GetGoodRateBps(m_liveLinks.Get(link)), MAX_TIME_PS);
}

uint64_t
MessageFabric::ForwardingPs(uint32_t link) const
{
    return m_liveLinks.Get(link).source < m_topology.ranks ? m_topology.forwardingDelayPs : 0;
}

uint32_t
MessageFabric::GetAckLink(uint32_t path) const
{
    if (m_topology.reconfiguration.controlNetwork)
    {
        return NONE;
    }
    const uint32_t back = FindPath(m_topology.pathTarget[path], m_topology.pathSource[path]);
    const std::span<const uint32_t> links = m_liveLinks.GetPath(back);
    return links.empty() ? NONE : links.front();
}

uint64_t
MessageFabric::AcknowledgementPs(uint32_t path) const
{
    const Reconfiguration& circuit = m_topology.reconfiguration;
    if (circuit.controlNetwork)
    {
        return MultiplyDivideUp(m_format.ackBytes, BYTE_PS, circuit.circuitRateBps, MAX_TIME_PS) +
               circuit.circuitLatencyPs;
    }
    const uint32_t back = FindPath(m_topology.pathTarget[path], m_topology.pathSource[path]);
    // Without a path in the reverse direction, assume that it takes as long as the forward path.
    const bool isThere = !m_liveLinks.GetPath(back).empty();
    uint64_t sum = 0;
    bool isFirst = true;
    for (const uint32_t link : m_liveLinks.GetPath(isThere ? back : path))
    {
        sum = Later(sum, TransmissionPs(m_format.ackBytes, link));
        sum = Later(sum, m_liveLinks.Get(link).latencyPs);
        sum = Later(sum, isFirst ? 0 : ForwardingPs(link));
        isFirst = false;
    }
    return sum;
}

} // namespace cosim
