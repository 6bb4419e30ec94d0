/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// What an ExpressTcpSocket does with an ACK.

#include "transport/tcp/express-tcp-socket.h"
#include "transport/tcp/segment-codec.h"

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

} // namespace cosim
