/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/express-tcp-socket.h"

#include "transport/tcp/quiet-tcp-state.h"
#include "transport/tcp/segment-codec.h"

#include "ns3/double.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(ExpressTcpSocket);

TypeId
ExpressTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("cosim::ExpressTcpSocket")
                            .SetParent<FabricTcpSocket>()
                            .SetGroupName("Cosim")
                            .AddConstructor<ExpressTcpSocket>();
    return tid;
}

ExpressTcpSocket::ExpressTcpSocket()
{
    m_tcb = CreateObject<QuietTcpState>(*m_tcb);
    m_pacingTimer.SetFunction(&ExpressTcpSocket::SendPending, this);
}

ExpressTcpSocket::ExpressTcpSocket(const ExpressTcpSocket& socket)
    : FabricTcpSocket(socket)
{
    m_estimator = DynamicCast<SettableRtt>(m_rtt);
    m_onDelivery = MakeCallback(&TcpRateOps::SkbDelivered, m_rateOps);
    m_pacingTimer.SetFunction(&ExpressTcpSocket::SendPending, this);
}

void
ExpressTcpSocket::Equip(LossRecovery recovery)
{
    FabricTcpSocket::Equip(recovery);
    m_estimator = CreateObject<SettableRtt>();
    SetRtt(m_estimator);
}

void
ExpressTcpSocket::Attach(const Congestion& congestion,
                         PacketCarrier& carrier,
                         SegmentPool& segments,
                         uint32_t linkHeaderBytes,
                         LazyTimer& retransmissionTimer,
                         PacketCounts& sent)
{
    m_congestion = congestion;
    const Ptr<TcpSocketState>& state = congestion.GetState();
    state->m_rxBuffer = m_tcb->m_rxBuffer;
    state->m_sendEmptyPacketCallback = m_tcb->m_sendEmptyPacketCallback;
    m_tcb = state;
    m_congestionControl = congestion.GetControl();
    m_carrier = &carrier;
    m_segments = &segments;
    m_linkHeaderBytes = linkHeaderBytes;
    m_retransmissionTimer = &retransmissionTimer;
    m_sent = &sent;
}

void
ExpressTcpSocket::Establish()
{
    m_sndWindShift = GetWindowShift();
    m_txBuffer->SetSackEnabled(m_sackEnabled);
    m_dataRetrCount = m_dataRetries;
    m_state = ESTABLISHED;
    m_connected = true;
    UpdatePacingRate();
}

void
ExpressTcpSocket::Append(uint64_t bytes)
{
    m_unfed += bytes;
}

void
ExpressTcpSocket::Feed(uint32_t bytes)
{
    if (bytes > 0)
    {
        // The buffer copies the packet, but the copy shares the content.
        if (!m_content || m_content->GetSize() != bytes)
        {
            m_content = Create<ns3::Packet>(bytes);
        }
        m_txBuffer->Add(m_content);
        m_unfed -= bytes;
    }
}

void
ExpressTcpSocket::FeedSegment()
{
    const uint32_t fed = m_txBuffer->SizeFromSequence(m_tcb->m_highTxMark);
    if (fed < m_tcb->m_segmentSize)
    {
        Feed(static_cast<uint32_t>(std::min<uint64_t>(m_unfed, m_tcb->m_segmentSize - fed)));
    }
}

bool
ExpressTcpSocket::FindNext(SequenceNumber32* next, SequenceNumber32* nextHigh)
{
    if (m_tcb->m_congState == TcpSocketState::CA_OPEN && m_txBuffer->GetLost() == 0)
    {
        // Rule 1 of RFC 6675's NextSeg finds nothing, so rule 2 applies: send new data after the
        // highest sequence number that was sent, within the window of the peer. Data that was
        // selectively acknowledged is in this window, but not in flight.
        *next = m_tcb->m_highTxMark;
        const auto sent = static_cast<uint32_t>(*next - m_txBuffer->HeadSequence());
        const uint32_t room = m_rWnd - std::min(sent, m_rWnd.Get());
        *nextHigh = *next + std::min(m_tcb->m_segmentSize, room);
        return room > 0 && (m_unfed > 0 || m_txBuffer->SizeFromSequence(*next) > 0);
    }
    FeedSegment();
    if (m_txBuffer->Size() == 0)
    {
        return false;
    }
    const bool enableRule3 = m_sackEnabled && m_tcb->m_congState == TcpSocketState::CA_RECOVERY;
    return m_txBuffer->NextSeg(next, nextHigh, enableRule3);
}

void
ExpressTcpSocket::SendPending()
{
    uint32_t window = AvailableWindow();
    while (window > 0)
    {
        if (IsPacingEnabled() && m_pacingTimer.IsRunning())
        {
            break;
        }
        SequenceNumber32 next;
        SequenceNumber32 nextHigh;
        if (!FindNext(&next, &nextHigh))
        {
            break;
        }
        const uint32_t fed = m_txBuffer->SizeFromSequence(next);
        const uint64_t available = fed + m_unfed;
        if (window < m_tcb->m_segmentSize && available > window)
        { // avoid silly windows
            break;
        }
        if (!m_noDelay && UnAckDataCount() > 0 && available < m_tcb->m_segmentSize)
        { // Nagle's algorithm (RFC 896)
            break;
        }
        const uint32_t size =
            std::min({window, m_tcb->m_segmentSize, static_cast<uint32_t>(nextHigh - next)});
        if (next == m_tcb->m_highTxMark.Get())
        { // For new data, the payload of this segment becomes one item of the send buffer.
            const auto wanted = static_cast<uint32_t>(std::min<uint64_t>(size, available));
            Feed(wanted - std::min(wanted, fed));
        }
        m_tcb->m_nextTxSequence = next;
        if (m_tcb->m_bytesInFlight.Get() == 0)
        {
            m_congestionControl->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_TX_START);
        }
        m_tcb->m_nextTxSequence += SendDataPacket(next, size, m_connected);
        window = AvailableWindow();
    }
}

Segment*
ExpressTcpSocket::MakeSegment(uint8_t flags, SequenceNumber32 sequence, uint32_t payloadBytes)
{
    Segment* segment = m_segments->Take();
    segment->flow = m_flow;
    segment->hop = 0;
    segment->toSender = false;
    segment->trafficClass = 0; // a reused segment has that of its flow
    segment->ce = false;
    segment->flags = flags;
    segment->payloadBytes = payloadBytes;
    segment->sequence = sequence;
    if (m_timestampEnabled)
    {
        segment->timestamp = TcpOptionTS::NowToTsValue();
        segment->timestampEcho = m_tcb->m_rcvTimestampValue;
    }
    segment->wireBytes = GetWireBytes(*segment, m_timestampEnabled, m_linkHeaderBytes);
    return segment;
}

uint32_t
ExpressTcpSocket::SendDataPacket(SequenceNumber32 seq, uint32_t maxSize, bool withAck)
{
    const bool isStartOfTransmission = BytesInFlight() == 0;
    TcpTxItem* item = m_txBuffer->CopyFromSequence(maxSize, seq);
    m_rateOps->SkbSent(item, isStartOfTransmission);
    const bool isRetransmission = item->IsRetrans();
    const uint32_t size = item->GetSeqSize();

    if (IsPacingEnabled() && m_pacingTimer.IsExpired())
    {
        m_pacingTimer.Schedule(m_tcb->m_pacingRate.Get().CalculateBytesTxTime(size));
    }
    uint8_t flags = 0;
    if (withAck)
    {
        flags = TcpHeader::ACK;
    }
    if (m_tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD &&
        m_ecnEchoSeq.Get() > m_ecnCWRSeq.Get() && !isRetransmission)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_CWR_SENT;
        m_ecnCWRSeq = seq;
        flags |= TcpHeader::CWR;
    }
    Segment* segment = MakeSegment(flags, seq, size);
    segment->ect = m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED &&
                   IsEct(isRetransmission ? TcpPacketType_t::RE_XMT : TcpPacketType_t::DATA);
    if (!m_retransmissionTimer->IsArmed())
    {
        m_retransmissionTimer->Arm(m_rto);
    }
    m_sent->Add(segment->wireBytes, size);
    if (isRetransmission)
    {
        m_observer->OnRetransmitted(m_flow, size);
    }
    m_carrier->Carry(segment);

    m_tcb->m_isCwndLimited = m_tcb->m_cWnd < BytesInFlight() + m_tcb->m_segmentSize;
    UpdateRttHistory(seq, size, isRetransmission);
    if (m_tcb->m_congState == TcpSocketState::CA_RECOVERY ||
        m_tcb->m_congState == TcpSocketState::CA_CWR)
    {
        m_recoveryOps->UpdateBytesSent(size);
    }
    m_tcb->m_highTxMark = std::max(seq + size, m_tcb->m_highTxMark.Get());
    return size;
}

void
ExpressTcpSocket::Suspend()
{
    if (m_pacingTimer.IsRunning())
    {
        m_pacingTimer.Suspend();
    }
    for (RttHistory& sent : m_history)
    {
        // Round trips that include a pause must not be measured, just like those of retransmitted
        // segments.
        sent.retx = true;
    }
}

void
ExpressTcpSocket::Continue()
{
    if (m_pacingTimer.IsSuspended())
    {
        m_pacingTimer.Resume();
    }
}

void
ExpressTcpSocket::ReTxTimeout()
{
    FeedSegment(); // the base class looks for data in the send buffer
    FabricTcpSocket::ReTxTimeout();
    SendPending();
}

// What a socket does with an ACK.

void
ExpressTcpSocket::Receive(const Segment& segment)
{
    if (m_state != ESTABLISHED)
    {
        return;
    }
    NoteEcn(segment);
    TcpHeader header;
    FillHeader(segment, m_timestampEnabled, header);
    if (m_timestampEnabled)
    {
        ProcessOptionTimestamp(header.GetOption(TcpOption::TS), segment.sequence);
    }
    EstimateRtt(header);
    UpdateWindowSize(header);
    if (segment.acknowledgment >= m_txBuffer->HeadSequence() &&
        segment.acknowledgment <= m_tcb->m_highTxMark.Get())
    {
        FeedSegment(); // loss recovery, which may begin now, looks for new data in the send buffer
        HandleAck(segment);
        SendPending();
    }
}

/**
 * Do what TcpSocketBase::ReceivedAck does with a segment without data.
 *
 * That function wants the SACK blocks as an option of the header, and makes a callback for each of
 * the two calls of the send buffer.
 */
void
ExpressTcpSocket::HandleAck(const Segment& segment)
{
    const SequenceNumber32 ack = segment.acknowledgment;
    const SequenceNumber32 head = m_txBuffer->HeadSequence();
    const uint32_t lostBefore = m_txBuffer->GetLost();
    const uint32_t inFlightBefore = m_tcb->m_bytesInFlight;
    const uint64_t deliveredBefore = m_rateOps->GetConnectionRate().m_delivered;
    const bool isSacked =
        segment.sackBlocks && m_txBuffer->Update(*segment.sackBlocks, m_onDelivery) > 0;
    NoteRetransmissions(head, ack);
    m_txBuffer->DiscardUpTo(ack, m_onDelivery);
    const auto delivered =
        static_cast<uint32_t>(m_rateOps->GetConnectionRate().m_delivered - deliveredBefore);
    m_tcb->m_lastAckedSackedBytes = delivered;
    NoteEcnEcho(segment, ack > head, delivered);
    BytesInFlight(); // also stores the number
    ProcessAck(ack, isSacked, delivered, head, false);
    m_tcb->m_isRetransDataAcked = false;
    if (m_congestionControl->HasCongControl())
    {
        const uint32_t lost = m_txBuffer->GetLost();
        const TcpRateOps::TcpRateSample& sample =
            m_rateOps->GenerateSample(delivered,
                                      std::max(lost, lostBefore) - std::min(lost, lostBefore),
                                      false,
                                      inFlightBefore,
                                      m_tcb->m_minRtt);
        m_congestionControl->CongControl(m_tcb, m_rateOps->GetConnectionRate(), sample);
    }
}

/// Tell the congestion control whether an ACK acknowledges a segment that was sent again.
void
ExpressTcpSocket::NoteRetransmissions(SequenceNumber32 head, SequenceNumber32 ack)
{
    if (ack > head && ack < m_recover && m_tcb->m_congState == TcpSocketState::CA_RECOVERY)
    {
        const uint32_t segments = static_cast<uint32_t>(ack - head) / m_tcb->m_segmentSize;
        for (uint32_t i = 0; i < segments; ++i)
        {
            if (m_txBuffer->IsRetransmittedDataAcked(ack - i * m_tcb->m_segmentSize))
            {
                m_tcb->m_isRetransDataAcked = true;
            }
        }
    }
}

/**
 * End the answer to an ECN echo, or begin one.
 *
 * @param segment the ACK
 * @param isNew true if it acknowledges new data
 * @param delivered number of bytes that it acknowledges, cumulatively or selectively
 */
void
ExpressTcpSocket::NoteEcnEcho(const Segment& segment, bool isNew, uint32_t delivered)
{
    const SequenceNumber32 ack = segment.acknowledgment;
    const bool isEcho = (segment.flags & TcpHeader::ECE) != 0;
    if (m_tcb->m_congState == TcpSocketState::CA_CWR && ack > m_recover)
    {
        m_tcb->m_congState = TcpSocketState::CA_OPEN;
        if (!m_congestionControl->HasCongControl())
        {
            m_tcb->m_cWnd = m_tcb->m_ssThresh.Get();
            m_recoveryOps->ExitRecovery(m_tcb);
            m_congestionControl->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_COMPLETE_CWR);
        }
    }
    if (isNew && isEcho && m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED)
    {
        if (m_ecnEchoSeq < ack)
        {
            m_ecnEchoSeq = ack;
            m_tcb->m_ecnState = TcpSocketState::ECN_ECE_RCVD;
            if (m_tcb->m_congState != TcpSocketState::CA_CWR)
            {
                EnterCwr(delivered);
            }
        }
    }
    else if (!isEcho && m_tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_IDLE;
    }
}

void
ExpressTcpSocket::NoteEcn(const Segment& segment)
{
    // DCTCP's ACKs are ECN-capable, so a queue can also mark an ACK.
    if (segment.ce && m_ecnCESeq < segment.sequence)
    {
        m_ecnCESeq = segment.sequence;
        m_tcb->m_ecnState = TcpSocketState::ECN_CE_RCVD;
        m_congestionControl->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_IS_CE);
    }
    else if (segment.ect && m_tcb->m_ecnState != TcpSocketState::ECN_DISABLED)
    {
        m_congestionControl->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_NO_CE);
    }
}

void
ExpressTcpSocket::NewAck(const SequenceNumber32& ack, bool resetRto)
{
    m_dataRetrCount = m_dataRetries;
    if (resetRto)
    {
        SetRto();
        m_retransmissionTimer->Arm(m_rto);
    }
    if (ack > m_tcb->m_nextTxSequence)
    {
        m_tcb->m_nextTxSequence = ack;
    }
    if (m_txBuffer->Size() == 0 && m_unfed == 0)
    { // There is nothing to send.
        m_retransmissionTimer->Cancel();
    }
    m_observer->OnAcked(m_flow, static_cast<uint32_t>(ack - m_acked));
    m_acked = ack;
}

void
ExpressTcpSocket::SetRto()
{
    RttState rtt;
    m_estimator->Get(rtt);
    m_rto = Time(rtt.GetTimeoutPs(m_clockGranularity.GetTimeStep(), m_minRto.GetTimeStep()));
}

// How a socket begins with a SenderState, and how it gives one back.

bool
ExpressTcpSocket::IsPredictable() const
{
    DoubleValue alpha;
    DoubleValue beta;
    m_rtt->GetAttribute("Alpha", alpha);
    m_rtt->GetAttribute("Beta", beta);
    return !m_tcb->m_pacing && m_noDelay && alpha.Get() == 0.125 && beta.Get() == 0.25;
}

uint8_t
ExpressTcpSocket::GetWindowShift() const
{
    return m_winScalingEnabled ? CalculateWScale() : uint8_t{0};
}

Congestion
ExpressTcpSocket::MakeCongestion(const Ptr<TcpCongestionOps>& control) const
{
    const Ptr<TcpSocketState> state = CopyObject(m_tcb);
    state->m_rxBuffer = m_tcb->m_rxBuffer;
    return {control, state};
}

SenderState
ExpressTcpSocket::MakeStartState(const Handshake& handshake) const
{
    SenderState state;
    Time rtt = handshake.rtt;
    if (m_timestampEnabled)
    { // TcpSocketBase measures with the timestamps, and takes less than a tick as a microsecond.
        const int64_t sent = handshake.start.GetMilliSeconds();
        const int64_t ticks = (handshake.start + rtt).GetMilliSeconds() - sent;
        rtt = ticks == 0 ? MicroSeconds(1) : MilliSeconds(ticks);
        state.timestamp =
            static_cast<uint32_t>((handshake.start + handshake.forward).GetMilliSeconds());
        state.timestampEcho = static_cast<uint32_t>(sent);
    }
    // Both endpoints have the same settings, so the peer's window equals the window of this
    // endpoint. The window in a SYN is not scaled (RFC 7323, 2.2); the first ACK brings the scaled
    // window.
    state.window = AdvertisedWindowSize(false);
    state.congestionWindow = GetInitialCwnd() * GetSegSize();
    state.slowStartThreshold = GetInitialSSThresh();
    const Ptr<SettableRtt> estimator = CopyObject(m_estimator);
    estimator->Get(state.rtt);
    if (!rtt.IsZero())
    { // the handshake is the first measurement
        estimator->Measurement(rtt);
        estimator->Get(state.rtt);
        state.rtt.latestPs = rtt.GetTimeStep();
        state.rtt.smallestPs = rtt.GetTimeStep();
        state.timeoutPs =
            state.rtt.GetTimeoutPs(m_clockGranularity.GetTimeStep(), m_minRto.GetTimeStep());
    }
    return state;
}

void
ExpressTcpSocket::TakeOver(const SenderState& state)
{
    const SequenceNumber32 first(1); // the first byte after the SYN
    m_congestion.Load(state);
    m_tcb->m_rxBuffer->SetNextRxSequence(first);
    m_highRxAckMark = state.head;
    m_highRxMark = state.isAnswered ? first : SequenceNumber32(0);
    m_rWnd = state.window;
    m_bytesAckedNotProcessed = state.uncounted;
    m_acked = state.head;

    m_estimator->Set(state.rtt);
    m_rto = Time(state.timeoutPs);

    m_txBuffer->SetHeadSequence(state.head);
    m_unfed = state.unsent + static_cast<uint32_t>(state.next - state.head);
    m_history.clear();
    SequenceNumber32 sequence = state.head;
    for (std::size_t i = 0; i < state.inFlight.GetSize(); ++i)
    {
        const SentSegment& segment = state.inFlight.At(i);
        Feed(segment.bytes);
        // What the rate sample knows of the time before is used only by congestion controls that
        // are not predicted.
        m_rateOps->SkbSent(m_txBuffer->CopyFromSequence(segment.bytes, sequence), i == 0);
        m_history.emplace_back(sequence, segment.bytes, Time(segment.sentPs));
        sequence += segment.bytes;
    }
    BytesInFlight(); // also stores the number
}

bool
ExpressTcpSocket::HandBack(SenderState& state)
{
    if (!IsUneventful())
    {
        return false;
    }
    state.unsent = m_unfed + m_txBuffer->SizeFromSequence(m_tcb->m_highTxMark);
    state.head = m_txBuffer->HeadSequence();
    state.next = m_tcb->m_highTxMark;
    state.window = m_rWnd;
    state.congestionWindow = m_tcb->m_cWnd;
    state.slowStartThreshold = m_tcb->m_ssThresh;
    state.uncounted = m_bytesAckedNotProcessed;
    state.timestamp = m_tcb->m_rcvTimestampValue;
    state.timestampEcho = m_tcb->m_rcvTimestampEchoReply;
    state.isAnswered = m_highRxMark.Get() != SequenceNumber32(0);
    state.isWindowLimited = m_tcb->m_isCwndLimited;
    state.timeoutPs = m_rto.Get().GetTimeStep();
    m_estimator->Get(state.rtt);
    state.rtt.latestPs = m_tcb->m_lastRtt.Get().GetTimeStep();
    state.rtt.smallestPs = m_tcb->m_minRtt.GetTimeStep();
    state.inFlight.Clear();
    for (const RttHistory& sent : m_history)
    {
        state.inFlight.Push({sent.time.GetTimeStep(), sent.count});
    }
    m_txBuffer->DiscardUpTo(m_txBuffer->TailSequence());
    return true;
}

/// @return true if a SenderState says all that matters about the current state
bool
ExpressTcpSocket::IsUneventful() const
{
    if (m_state != ESTABLISHED || m_tcb->m_congState != TcpSocketState::CA_OPEN ||
        m_dupAckCount != 0 || m_recoverActive || m_dataRetrCount != m_dataRetries ||
        m_tcb->m_nextTxSequence != m_tcb->m_highTxMark ||
        m_tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD || m_txBuffer->GetLost() > 0 ||
        m_txBuffer->GetSacked() > 0 || m_txBuffer->GetRetransmitsCount() > 0)
    {
        return false;
    }
    // Each segment in flight has its round trip measured.
    SequenceNumber32 next = m_txBuffer->HeadSequence();
    for (const RttHistory& sent : m_history)
    {
        if (sent.retx || sent.seq != next)
        {
            return false;
        }
        next += sent.count;
    }
    return next == m_tcb->m_highTxMark.Get();
}

} // namespace cosim
