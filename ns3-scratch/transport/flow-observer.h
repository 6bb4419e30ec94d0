/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_OBSERVER_H
#define COSIM_FLOW_OBSERVER_H

#include "ns3/nstime.h"

#include <cstdint>

namespace cosim
{

/// Index of a flow. A flow is a connection that carries data in one direction.
using FlowId = uint32_t;

/// Is notified of the events of a flow by its two endpoints.
class FlowObserver
{
  public:
    virtual ~FlowObserver() = default;

    /**
     * Called when the receiver got the next bytes of the stream in order.
     *
     * @param flow id of the flow
     * @param bytes number of bytes
     */
    virtual void OnDelivered(FlowId flow, uint64_t bytes) = 0;

    /**
     * Called when the sender got the acknowledgment of the next bytes of the stream.
     *
     * @param flow id of the flow
     * @param bytes number of bytes
     */
    virtual void OnAcked(FlowId flow, uint64_t bytes) = 0;

    /**
     * Called when the sender sends data that it has sent before.
     *
     * @param flow id of the flow
     * @param payloadBytes payload of the packet [bytes]
     */
    virtual void OnRetransmitted(FlowId flow, uint32_t payloadBytes) = 0;

    /**
     * Called when a data packet arrived whose bytes the receiver already had.
     *
     * @param flow id of the packet's flow
     */
    virtual void OnRepeated(FlowId flow) = 0;

    /**
     * Called when the sender measured a round trip.
     *
     * @param flow id of the flow
     * @param rtt time from the transmission of the last segment that is acknowledged
     * @param oldest time from the transmission of the first one
     */
    virtual void OnRttSample(FlowId flow, ns3::Time rtt, ns3::Time oldest) = 0;

    /**
     * Called when the retransmission timer of a flow expired.
     *
     * @param flow id of the flow
     * @param waited time for which the timer has run
     */
    virtual void OnTimeout(FlowId flow, ns3::Time waited) = 0;

    /// @param flow id of the flow that TCP closed after too many consecutive timeouts
    virtual void OnClosed(FlowId flow) = 0;
};

} // namespace cosim

#endif // COSIM_FLOW_OBSERVER_H
