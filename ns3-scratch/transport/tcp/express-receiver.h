/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_RECEIVER_H
#define COSIM_EXPRESS_RECEIVER_H

#include "clock/lazy-timer.h"
#include "transport/endpoint.h"

#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/sequence-number.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-socket-state.h"
#include "ns3/type-id.h"

#include <cstdint>

namespace cosim
{

struct TcpSettings;

/**
 * The receiving end of a flow in the express fabric.
 *
 * It does what ns-3's TcpSocketBase does with data that nothing of its own rides on: reassembly and
 * SACK blocks (by ns-3's TcpRxBuffer), delayed ACKs, window, timestamps (RFC 7323), and the ECN
 * echo of RFC 3168 or, through ns3::TcpDctcp, RFC 8257. A whole socket would cost a hundred times
 * the memory for a sender half that is never used.
 */
class ExpressReceiver : public FlowReceiver
{
  public:
    /// What all receivers of a fabric share.
    struct Config
    {
        /// @param settings what it follows from
        explicit Config(const TcpSettings& settings);

        uint32_t window;          //!< receive buffer [bytes]
        uint16_t advertised;      //!< the window field of every ACK: whole, as data is read at once
        uint32_t delayedAckCount; //!< segments in a row that get one ACK
        ns3::Time delayedAckTimeout;
        bool sack;
        bool timestamps;
        bool ecn;
        ns3::TypeId congestionControl; //!< has a receiver's part if it is DCTCP
        uint32_t linkHeaderBytes;
    };

    /**
     * @param config shared; not owned
     * @param carrier takes the ACKs; not owned
     * @param observer told what was delivered and sent; not owned
     * @param flow the flow's id
     */
    ExpressReceiver(const Config& config,
                    SegmentCarrier& carrier,
                    FlowObserver& observer,
                    FlowId flow);

    // FlowReceiver
    void Receive(const Segment& segment) override;

  private:
    /// What a segment did to the receive buffer.
    enum class Stored
    {
        NOTHING,  //!< it brought no new data
        IN_ORDER, //!< it continued the stream, and no gap was or is open
        WITH_GAP, //!< a gap is open, or was filled
    };

    void MakeBuffer();
    void NoteEcn(const Segment& segment);
    void NoteTimestamp(const Segment& segment);
    Stored Store(const Segment& segment);
    void OnDelayedAckTimeout();
    void Acknowledge();
    void SendAck(uint8_t flags);
    void Signal(ns3::TcpSocketState::TcpCAEvent_t event);
    ns3::SequenceNumber32 GetNext() const;

    const Config& m_config;
    SegmentCarrier& m_carrier;
    FlowObserver& m_observer;
    FlowId m_flow;
    ns3::SequenceNumber32 m_next{1};        //!< the next byte in order, while there is no buffer
    ns3::Ptr<ns3::TcpRxBuffer> m_buffer;    //!< made when the first gap appears, or for ECN
    ns3::Ptr<ns3::TcpSocketState> m_tcb;    //!< the ECN state; null without ECN
    ns3::Ptr<ns3::TcpCongestionOps> m_ops;  //!< null without ECN
    ns3::SequenceNumber32 m_congestedAt{0}; //!< highest sequence number that came with CE
    uint32_t m_unacknowledged;              //!< segments since the last ACK
    uint32_t m_timestampToEcho{0};
    LazyTimer m_delayedAckTimer;
};

} // namespace cosim

#endif // COSIM_EXPRESS_RECEIVER_H
