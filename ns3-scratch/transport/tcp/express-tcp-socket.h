/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_TCP_SOCKET_H
#define COSIM_EXPRESS_TCP_SOCKET_H

#include "clock/lazy-timer.h"
#include "transport/endpoint.h"
#include "transport/tcp/fabric-tcp-socket.h"

#include <cstdint>

namespace cosim
{

/**
 * The sending endpoint of a flow in the express fabric: ns3::TcpSocketBase with segments that are
 * plain structs.
 *
 * The state machine, congestion control, RTT estimation, loss recovery and timers are those of
 * TcpSocketBase. This class replaces only how segments are carried and when work is scheduled:
 * - Segments go to a SegmentCarrier, and ACKs come from it. There is no header serialization, no
 *   lookup of endpoints, and no IP layer.
 * - The retransmission timer is a LazyTimer.
 * - While nothing is lost, the next segment is the one after the last sent segment, so the scan of
 *   the send buffer (TcpTxBuffer::NextSeg) is skipped.
 * - Data enters the send buffer one segment at a time, just before it is sent. The buffer thus
 * never splits or joins its items, and waiting data takes no memory.
 * - The congestion state is a QuietTcpState, because nothing listens to the socket's trace sources.
 *
 * The end point of the base class stays null, so TcpSocketBase::SendPendingData sends nothing. This
 * class calls SendPending in its place, after each call of the base class that would send data.
 */
class ExpressTcpSocket : public FabricTcpSocket, public FlowSender
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    ExpressTcpSocket();

    /// @param socket what to copy: settings, not connections
    ExpressTcpSocket(const ExpressTcpSocket& socket);

    /**
     * @param carrier takes this socket's segments; not owned
     * @param linkHeaderBytes per packet beside IP and TCP
     */
    void SetCarrier(SegmentCarrier* carrier, uint32_t linkHeaderBytes);

    /**
     * Bring an equipped socket to the state in which the three-way handshake leaves the end that
     * opened the connection.
     *
     * @param rtt the round trip that the SYN and its answer take in the empty network
     */
    void Establish(ns3::Time rtt);

    // FlowSender
    void Submit(uint64_t bytes) override;
    void Receive(const Segment& segment) override;
    void Pause() override;
    void Resume() override;

  protected:
    uint32_t SendDataPacket(ns3::SequenceNumber32 seq, uint32_t maxSize, bool withAck) override;
    void NewAck(const ns3::SequenceNumber32& ack, bool resetRto) override;
    void ReTxTimeout() override;

  private:
    void SendPending();
    void Feed(uint32_t bytes);
    void FeedSegment();
    void NoteEcn(const Segment& segment);
    void SetRto();
    bool FindNext(ns3::SequenceNumber32* next, ns3::SequenceNumber32* nextHigh);
    Segment* MakeSegment(uint8_t flags, ns3::SequenceNumber32 sequence, uint32_t payloadBytes);

    SegmentCarrier* m_carrier{nullptr}; //!< not owned
    uint32_t m_linkHeaderBytes{0};
    ns3::Ptr<ns3::Packet> m_content;  //!< what the send buffer was last fed: mostly a full segment
    uint64_t m_unfed{0};              //!< submitted, not yet in the send buffer
    ns3::SequenceNumber32 m_acked{1}; //!< reported to the observer up to here
    ns3::EventId m_submitEvent;
    LazyTimer m_retransmissionTimer;
    ns3::Time m_timeoutLeft{-1};       //!< while paused: of the retransmission timer, if armed
    bool m_isSubmitInterrupted{false}; //!< while paused: m_submitEvent is to come
};

} // namespace cosim

#endif // COSIM_EXPRESS_TCP_SOCKET_H
