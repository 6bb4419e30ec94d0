/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ENDPOINT_H
#define COSIM_ENDPOINT_H

#include "transport/flow-observer.h"
#include "transport/segment.h"

#include "ns3/nstime.h"

#include <cstdint>

namespace cosim
{

/// The sending end of a flow.
class FlowSender
{
  public:
    virtual ~FlowSender() = default;

    /// @param bytes more for the stream
    virtual void Submit(uint64_t bytes) = 0;

    /// @param segment arrived from the receiver; stays the caller's
    virtual void Receive(const Segment& segment) = 0;

    /**
     * Let no time pass for this end until Resume: its timers stand still, and no round trip that is
     * under way is measured. Until then, neither Submit nor Receive may be called.
     */
    virtual void Pause() = 0;

    /// Let time pass again.
    virtual void Resume() = 0;
};

/// The receiving end of a flow.
class FlowReceiver
{
  public:
    virtual ~FlowReceiver() = default;

    /// @param segment arrived from the sender; stays the caller's
    virtual void Receive(const Segment& segment) = 0;
};

/// Both ends of a flow.
struct FlowEnds
{
    FlowSender* sender{nullptr};
    FlowReceiver* receiver{nullptr};
};

/**
 * A transport protocol: makes both ends of the flows of a fabric that carries segments, and owns
 * them.
 */
class Transport
{
  public:
    virtual ~Transport() = default;

    /// @return the size of the packets that open a connection, all headers included [bytes]
    virtual uint32_t GetHandshakeBytes() const = 0;

    /**
     * Make the ends of a flow, in the state in which opening the connection leaves them.
     *
     * @param flow the flow's id
     * @param handshakeRtt the round trip of the first two handshake packets in an empty network
     * @param carrier takes the segments of both ends; outlives them
     * @param observer is told what happens to the flow; outlives the ends
     * @return the ends; valid as long as this object
     */
    virtual FlowEnds Connect(FlowId flow,
                             ns3::Time handshakeRtt,
                             SegmentCarrier& carrier,
                             FlowObserver& observer) = 0;
};

} // namespace cosim

#endif // COSIM_ENDPOINT_H
