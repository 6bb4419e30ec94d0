/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// How an ExpressTcpSocket begins with a SenderState, and how it gives one back.

#include "transport/tcp/express-tcp-socket.h"

#include "ns3/double.h"
#include "ns3/packet.h"
#include "ns3/tcp-rate-ops.h"
#include "ns3/tcp-rx-buffer.h"
#include "ns3/tcp-tx-buffer.h"

namespace cosim
{

using namespace ns3;

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
