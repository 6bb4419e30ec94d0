/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ENDPOINT_H
#define COSIM_ENDPOINT_H

#include "transport/flow-observer.h"
#include "transport/packet-counts.h"
#include "transport/packet.h"

#include "ns3/nstime.h"

#include <cstdint>

namespace cosim
{

/// The sending end of a flow.
class FlowSender
{
  public:
    virtual ~FlowSender() = default;

    /// @param bytes number of bytes to append to the stream of data
    virtual void Submit(uint64_t bytes) = 0;

    /// @param packet a packet that arrived from the receiver; the caller keeps ownership
    virtual void Receive(const Packet& packet) = 0;

    /// Send nothing any more. Neither Submit nor Receive is called after this.
    virtual void Abandon()
    {
    }

    /// @return the congestion window [bytes]
    virtual uint32_t GetWindow() const = 0;

    /// @return the rate that the congestion control allows; 0: it has none [bit/s]
    virtual double GetRateBps() const
    {
        return 0;
    }
};

/// A sending end whose time can stop, while links change and nothing is carried.
class PausableSender : public FlowSender
{
  public:
    /**
     * Stop the time of this endpoint until Resume. Its timers stop, and the round trip in progress
     * is not measured. Submit and Receive must not be called before Resume.
     */
    virtual void Pause() = 0;

    /// Continue after Pause. The timers run on with the time that they had left.
    virtual void Resume() = 0;
};

/// The receiving end of a flow.
class FlowReceiver
{
  public:
    virtual ~FlowReceiver() = default;

    /// @param packet a packet that arrived from the sender; the caller keeps ownership
    virtual void Receive(const Packet& packet) = 0;
};

/// How a connection was opened, in an empty network.
struct Handshake
{
    ns3::Time start;   //!< when the first packet was sent
    ns3::Time forward; //!< time that the first packet took to the receiver
    ns3::Time rtt;     //!< time until the sender had the answer
    /// latencies of both ways, and the transmission of a full data packet on the way there
    ns3::Time baseRtt{};
    uint64_t firstBps{0};   //!< rate of the first link of the path
    uint64_t slowestBps{0}; //!< rate of its slowest link
};

/// The two endpoints of a flow.
struct FlowEnds
{
    FlowSender* sender{nullptr};
    FlowReceiver* receiver{nullptr};
};

class ReplayableTransport;
class PulledTransport;
struct NetworkStatistics;

/**
 * A transport protocol. It creates and owns both endpoints of each flow of a fabric that carries
 * packets, and the packets.
 */
class Transport
{
  public:
    virtual ~Transport() = default;

    /// @return size of the packets that open the connection of a flow, headers included [bytes]
    virtual uint32_t GetHandshakeBytes(FlowId flow) const = 0;

    /**
     * Say where all endpoints are. Called once, before Connect.
     *
     * @param carrier carries the packets of the endpoints; must outlive this object
     * @param observer notified of the events of the flows; must outlive this object
     */
    virtual void Attach(PacketCarrier& carrier, FlowObserver& observer) = 0;

    /**
     * Create the endpoints of a flow, in the state that they have after the connection is opened.
     *
     * @param flow id of the flow
     * @param handshake when and how fast the connection was opened
     * @return the endpoints, valid as long as this object
     */
    virtual FlowEnds Connect(FlowId flow, const Handshake& handshake) = 0;

    /// @param packet a packet of this transport that is no longer on its way
    virtual void Release(Packet* packet) = 0;

    /// @return the packets that all endpoints have sent
    virtual PacketCounts GetSent() const = 0;

    /// @return true if all senders are PausableSenders
    virtual bool CanPause() const
    {
        return false;
    }

    /// @return the object whose senders are asked for packets, or null if they hand them over
    virtual PulledTransport* GetPulled()
    {
        return nullptr;
    }

    /// @param statistics receives what only this transport counts
    virtual void AddStatistics(NetworkStatistics& /* statistics */) const
    {
    }

    /// @return the object that takes flows along trails, or null if there is none
    virtual const ReplayableTransport* GetReplayable() const
    {
        return nullptr;
    }
};

} // namespace cosim

#endif // COSIM_ENDPOINT_H
