/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/express-tcp-socket.h"

#include "transport/tcp/quiet-tcp-state.h"
#include "transport/tcp/segment-codec.h"

#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-recovery-ops.h"
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
                         LazyTimer& retransmissionTimer)
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
    m_observer->OnPacketSent(m_flow, segment->wireBytes, size, isRetransmission);
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

} // namespace cosim
