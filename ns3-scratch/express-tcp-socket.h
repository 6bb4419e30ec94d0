/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_TCP_SOCKET_H
#define COSIM_EXPRESS_TCP_SOCKET_H

#include "fabric-tcp-socket.h"
#include "lazy-timer.h"
#include "segment.h"

#include <cstdint>

namespace cosim
{

/// Where an ExpressTcpSocket puts the segments that it sends.
class SegmentCarrier
{
  public:
    virtual ~SegmentCarrier() = default;

    /// @return a segment to fill in
    virtual Segment* NewSegment() = 0;

    /// @param segment what to carry to the flow's other socket, from now on
    virtual void Carry(Segment* segment) = 0;
};

/**
 * One end of a flow in the express fabric: ns-3's TCP over segments that are plain structs.
 *
 * Its state machine, congestion control, RTT estimation, loss recovery and timers are
 * TcpSocketBase's. Replaced is what carries and schedules, not what decides:
 * - segments go to a SegmentCarrier, and come from it, without header serialization, end-point
 *   look-up or IP;
 * - retransmission and delayed-ACK timers are LazyTimer;
 * - while nothing is lost, the next segment is the one behind the last sent, so the scan of the
 *   send buffer (TcpTxBuffer::NextSeg) is skipped;
 * - in-order payload only advances the receive sequence; nobody reads its content.
 *
 * The end point stays null: TcpSocketBase::SendPendingData then sends nothing, and this class's
 * SendPending takes its place wherever the base class would have called it last.
 */
class ExpressTcpSocket : public FabricTcpSocket
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    ExpressTcpSocket();

    /**
     * @param carrier takes this socket's segments; not owned
     * @param linkHeaderBytes per packet beside IP and TCP
     * @param isReceiver whether this is the end that data goes to
     */
    void SetCarrier(SegmentCarrier* carrier, uint32_t linkHeaderBytes, bool isReceiver);

    /**
     * Bring two equipped sockets to the state in which the three-way handshake leaves them.
     *
     * @param sender the end that opened the connection and will send
     * @param receiver the other end
     * @param rtt the round trip that the SYN and its answer take in the empty network
     */
    static void Establish(ExpressTcpSocket& sender, ExpressTcpSocket& receiver, ns3::Time rtt);

    /// @param bytes more for the stream
    void Submit(uint64_t bytes);

    /// @param segment arrived from the other end; stays the caller's
    void Receive(const Segment& segment);

  protected:
    uint32_t SendDataPacket(ns3::SequenceNumber32 seq, uint32_t maxSize, bool withAck) override;
    void SendEmptyPacket(uint8_t flags) override;
    void NewAck(const ns3::SequenceNumber32& ack, bool resetRto) override;
    void ReTxTimeout() override;
    void DelAckTimeout() override;

  private:
    void OpenAs(const ExpressTcpSocket& peer);
    void SendPending();
    void FeedSendBuffer();
    void ReceivePayload(const Segment& segment);
    void AcknowledgeNow();
    void SetRto();
    bool FindNext(ns3::SequenceNumber32* next, ns3::SequenceNumber32* nextHigh) const;
    Segment* MakeSegment(uint8_t flags, ns3::SequenceNumber32 sequence, uint32_t payloadBytes);

    SegmentCarrier* m_carrier{nullptr}; //!< not owned
    uint32_t m_linkHeaderBytes{0};
    bool m_isReceiver{false};
    uint64_t m_unfed{0};              //!< submitted, not yet in the send buffer
    ns3::SequenceNumber32 m_acked{1}; //!< reported to the observer up to here
    ns3::EventId m_submitEvent;
    LazyTimer m_retransmissionTimer;
    LazyTimer m_delayedAckTimer;
};

} // namespace cosim

#endif // COSIM_EXPRESS_TCP_SOCKET_H
