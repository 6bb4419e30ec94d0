/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_TCP_SOCKET_H
#define COSIM_EXPRESS_TCP_SOCKET_H

#include "clock/lazy-timer.h"
#include "transport/endpoint.h"
#include "transport/packet-counts.h"
#include "transport/tcp/congestion.h"
#include "transport/tcp/fabric-tcp-socket.h"
#include "transport/tcp/segment.h"
#include "transport/tcp/sender-state.h"
#include "transport/tcp/settable-rtt.h"

#include <cstdint>

namespace cosim
{

/**
 * ns3::TcpSocketBase as the sender of a flow in the express fabric, with segments that are plain
 * structs. A TcpSender uses it for everything that it does not predict.
 *
 * The state machine, congestion control, RTT estimation, loss recovery and timers are those of
 * TcpSocketBase. This class replaces only how segments are carried and when work is scheduled:
 * - Segments go to a PacketCarrier, and ACKs come from it. There is no header serialization, no
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
class ExpressTcpSocket : public FabricTcpSocket
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    ExpressTcpSocket();

    /// @param socket the socket whose settings are copied; connections are not copied
    ExpressTcpSocket(const ExpressTcpSocket& socket);

    /**
     * Give the socket its loss recovery, as TcpL4Protocol does, and its round-trip estimator.
     */
    void Equip(LossRecovery recovery);

    /**
     * @return true if a TcpSender can predict sockets with the attributes of this one: without
     * pacing and Nagle's algorithm, and with the usual gains of the RTT estimate
     */
    bool IsPredictable() const;

    /// @return the number of bits by which the window field of an ACK is scaled
    uint8_t GetWindowShift() const;

    /**
     * @param handshake when and how fast the SYN and its answer pass through the empty network
     * @return the state in which the three-way handshake leaves the end that opened the connection,
     * with the attributes of this socket
     */
    SenderState MakeStartState(const Handshake& handshake) const;

    /**
     * @param control a congestion control that is not in use
     * @return the congestion control with the state that it has in a copy of this socket
     */
    Congestion MakeCongestion(const ns3::Ptr<ns3::TcpCongestionOps>& control) const;

    /**
     * Connect the socket with its surroundings.
     *
     * @param congestion the congestion control of the flow, which is open
     * @param carrier carries the segments of this socket; must outlive it
     * @param segments makes them; must outlive the socket
     * @param linkHeaderBytes header bytes per packet in addition to IP and TCP
     * @param retransmissionTimer calls ReTxTimeout when it expires; must outlive the socket
     * @param sent counts what the socket sends; must outlive the socket
     */
    void Attach(const Congestion& congestion,
                PacketCarrier& carrier,
                SegmentPool& segments,
                uint32_t linkHeaderBytes,
                LazyTimer& retransmissionTimer,
                PacketCounts& sent);

    /**
     * Continue from a state. Call Establish after the first call.
     *
     * @param state the state that the socket would have if it had done all of this itself
     */
    void TakeOver(const SenderState& state);

    /// Open the connection. The socket has its start state.
    void Establish();

    /**
     * Give the state back if nothing is wrong with it. Then the socket must not be used before
     * TakeOver.
     *
     * @param state receives the state
     * @return true if the state was given back; false if the socket continues
     */
    bool HandBack(SenderState& state);

    /// @param bytes number of bytes to append to the stream of data
    void Append(uint64_t bytes);

    /// Send data as far as the windows allow.
    void SendPending();

    /// @param segment a segment that arrived from the receiver; the caller keeps ownership
    void Receive(const Segment& segment);

    /// Stop the pacing until Continue. Do not measure the round trip in progress.
    void Suspend();

    /// Continue after Suspend.
    void Continue();

    // TcpSocketBase
    void ReTxTimeout() override;

  protected:
    uint32_t SendDataPacket(ns3::SequenceNumber32 seq, uint32_t maxSize, bool withAck) override;
    void NewAck(const ns3::SequenceNumber32& ack, bool resetRto) override;

  private:
    void Feed(uint32_t bytes);
    void FeedSegment();
    void NoteEcn(const Segment& segment);
    void HandleAck(const Segment& segment);
    void NoteRetransmissions(ns3::SequenceNumber32 head, ns3::SequenceNumber32 ack);
    void NoteEcnEcho(const Segment& segment, bool isNew, uint32_t delivered);
    void SetRto();
    bool FindNext(ns3::SequenceNumber32* next, ns3::SequenceNumber32* nextHigh);
    Segment* MakeSegment(uint8_t flags, ns3::SequenceNumber32 sequence, uint32_t payloadBytes);
    bool IsUneventful() const;

    Congestion m_congestion;           //!< the base class has its parts
    PacketCarrier* m_carrier{nullptr}; //!< not owned
    SegmentPool* m_segments{nullptr};  //!< not owned
    PacketCounts* m_sent{nullptr};     //!< not owned
    uint32_t m_linkHeaderBytes{0};
    LazyTimer* m_retransmissionTimer{nullptr}; //!< not owned
    ns3::Ptr<SettableRtt> m_estimator;         //!< the base class has it as m_rtt
    /// notes for the rate sample that a segment was delivered
    ns3::Callback<void, ns3::TcpTxItem*> m_onDelivery;
    /// packet that was last appended to the send buffer, usually a full segment
    ns3::Ptr<ns3::Packet> m_content;
    uint64_t m_unfed{0}; //!< bytes that were submitted and are not in the send buffer yet
    /// end of the data whose acknowledgment was reported to the observer
    ns3::SequenceNumber32 m_acked{1};
};

} // namespace cosim

#endif // COSIM_EXPRESS_TCP_SOCKET_H
