/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_RECEIVER_H
#define COSIM_EXPRESS_RECEIVER_H

#include "clock/lazy-timer.h"
#include "transport/endpoint.h"
#include "transport/flow-trail.h"
#include "transport/tcp/reassembly.h"
#include "transport/tcp/segment.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/type-id.h"

#include <cstdint>
#include <memory>

namespace cosim
{

struct TcpSettings;

/**
 * The receiving endpoint of a flow in the express fabric.
 *
 * It does what ns-3's TcpSocketBase does for a receiver that sends no data of its own: reassembly
 * and SACK blocks, delayed ACKs, the receive window, timestamps (RFC 7323), and the ECN echo of RFC
 * 3168, or of RFC 8257 with ns3::TcpDctcp. A complete socket would need a hundred times the memory,
 * because it also contains a sender that is never used.
 */
class ExpressReceiver : public FlowReceiver
{
  public:
    /// What all receivers of a fabric share.
    struct Config
    {
        /**
         * @param settings the TCP settings from which the values are derived
         * @param clock their clock
         */
        Config(const TcpSettings& settings, CausalSimulator& clock);

        CausalSimulator& clock;
        uint32_t window;     //!< receive buffer [bytes]
        uint16_t advertised; //!< window field of every ACK; constant, because data is read at once
        uint32_t delayedAckCount; //!< number of consecutive segments that one ACK acknowledges
        ns3::Time delayedAckTimeout;
        bool sack;
        bool timestamps;
        bool ecn;
        ns3::TypeId congestionControl; //!< matters only for DCTCP, which changes the receiver
        uint32_t linkHeaderBytes;
        PacketCarrier* carrier{nullptr}; //!< carries the ACKs; set by the user, not owned
        SegmentPool* segments{nullptr};  //!< makes the ACKs; likewise
        FlowObserver* observer{nullptr}; //!< of delivered data and sent packets; likewise
    };

    /**
     * @param config what all receivers share; not owned
     * @param flow id of the flow
     * @param handshake how the connection was opened
     */
    ExpressReceiver(const Config& config, FlowId flow, const Handshake& handshake);

    /// @return the packets that were sent
    const PacketCounts& GetSent() const
    {
        return m_sent;
    }

    /**
     * Become what this receiver would be if it had received data in order, and acknowledged all.
     *
     * @param bytes the bytes of the data
     * @param echoedPs when the first segment was sent that the last ACK acknowledges [ps]
     */
    void Advance(uint32_t bytes, int64_t echoedPs);

    // FlowReceiver
    void Receive(const Packet& packet) override;

  private:
    /// The effect of a segment on the receive buffer.
    enum class Stored
    {
        NOTHING,  //!< the segment brought no new data
        IN_ORDER, //!< the segment continued the stream, and there is no gap before or after it
        WITH_GAP, //!< there is a gap, or the segment filled one
    };

    void NoteEcn(const Segment& segment);
    void NoteTimestamp(const Segment& segment);
    Stored Store(const Segment& segment);
    Stored Reassemble(const Segment& segment);
    void OnDelayedAckTimeout();
    void Acknowledge();
    void SendAck(uint8_t flags);
    void Signal(ns3::TcpSocketState::TcpCAEvent_t event);

    const Config& m_config;
    FlowId m_flow;
    ns3::SequenceNumber32 m_next{1};          //!< next byte in order
    std::unique_ptr<Reassembly> m_reassembly; //!< null before the first gap
    ns3::Ptr<ns3::TcpSocketState> m_tcb;      //!< holds the ECN state; null without ECN
    ns3::Ptr<ns3::TcpCongestionOps> m_ops;    //!< null without ECN
    ns3::SequenceNumber32 m_congestedAt{0};   //!< highest sequence number of a segment with CE
    uint32_t m_unacknowledged;                //!< number of segments since the last ACK
    uint32_t m_latestTimestamp;               //!< TS option: the latest one of the peer
    uint32_t m_timestampToEcho;               //!< TS option: what an ACK echoes
    ns3::SequenceNumber32 m_highestAck{1};    //!< highest acknowledgment that was sent
    PacketCounts m_sent;                      //!< the ACKs that were sent
    using DelayedAckTimer = OwnedTimer<ExpressReceiver, &ExpressReceiver::OnDelayedAckTimeout>;

    /// null if each segment is acknowledged at once
    std::unique_ptr<DelayedAckTimer> m_delayedAckTimer;
};

} // namespace cosim

#endif // COSIM_EXPRESS_RECEIVER_H
