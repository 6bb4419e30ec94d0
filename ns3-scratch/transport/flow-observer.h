/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_OBSERVER_H
#define COSIM_FLOW_OBSERVER_H

#include "ns3/nstime.h"

#include <cstdint>

namespace cosim
{

/// Index of a flow: a connection that carries data one way.
using FlowId = uint32_t;

/// What the two sockets of a flow tell their fabric.
class FlowObserver
{
  public:
    virtual ~FlowObserver() = default;

    /**
     * The receiver got the next bytes of the stream in order.
     *
     * @param flow the flow
     * @param bytes how many
     */
    virtual void OnDelivered(FlowId flow, uint64_t bytes) = 0;

    /**
     * The sender got the acknowledgement of the next bytes of the stream.
     *
     * @param flow the flow
     * @param bytes how many
     */
    virtual void OnAcked(FlowId flow, uint64_t bytes) = 0;

    /**
     * A packet was handed to the first link.
     *
     * @param flow the flow that it belongs to
     * @param wireBytes its size, all headers included
     * @param payloadBytes its TCP payload
     * @param isRetransmission whether it carries data sent before
     */
    virtual void OnPacketSent(FlowId flow,
                              uint32_t wireBytes,
                              uint32_t payloadBytes,
                              bool isRetransmission) = 0;

    /**
     * The sender measured a round trip.
     *
     * @param flow the flow
     * @param rtt from a segment's transmission to its acknowledgement
     */
    virtual void OnRttSample(FlowId flow, ns3::Time rtt) = 0;

    /// @param flow the flow whose retransmission timer expired
    virtual void OnTimeout(FlowId flow) = 0;

    /// @param flow the flow that TCP gave up after too many timeouts in a row
    virtual void OnClosed(FlowId flow) = 0;
};

} // namespace cosim

#endif // COSIM_FLOW_OBSERVER_H
