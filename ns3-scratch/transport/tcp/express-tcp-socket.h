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
 * - Data enters the send buffer one segment at a time, just before it is sent. So the buffer never
 *   splits or joins its items, and waiting data takes no memory.
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

    /// @param socket the socket whose settings are copied; connections are not copied
    ExpressTcpSocket(const ExpressTcpSocket& socket);

    /**
     * @param carrier carries the segments of this socket; not owned
     * @param linkHeaderBytes header bytes per packet in addition to IP and TCP
     */
    void SetCarrier(SegmentCarrier* carrier, uint32_t linkHeaderBytes);

    /**
     * Put the socket into the state in which the three-way handshake leaves the end that opened the
     * connection. Call Equip first.
     *
     * @param rtt round-trip time of the SYN and its answer in the empty network
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
    /// packet that was last appended to the send buffer, usually a full segment
    ns3::Ptr<ns3::Packet> m_content;
    uint64_t m_unfed{0}; //!< bytes that were submitted and are not in the send buffer yet
    /// end of the data whose acknowledgment was reported to the observer
    ns3::SequenceNumber32 m_acked{1};
    ns3::EventId m_submitEvent;
    LazyTimer m_retransmissionTimer;
    /// while paused: remaining time of the retransmission timer; -1: not armed
    ns3::Time m_timeoutLeft{-1};
    /// while paused: true if m_submitEvent must be scheduled again
    bool m_isSubmitInterrupted{false};
};

} // namespace cosim

#endif // COSIM_EXPRESS_TCP_SOCKET_H
