/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/congestion.h"

#include <utility>

namespace cosim
{

using namespace ns3;

Congestion::Congestion(Ptr<TcpCongestionOps> control, Ptr<TcpSocketState> state)
    : m_control(std::move(control)),
      m_state(std::move(state))
{
    m_control->Init(m_state);
}

void
Congestion::Open(const SenderState& sender)
{
    Load(sender);
    m_state->m_ecnState = m_state->m_useEcn == TcpSocketState::Off ? TcpSocketState::ECN_DISABLED
                                                                   : TcpSocketState::ECN_IDLE;
    m_control->CongestionStateSet(m_state, TcpSocketState::CA_OPEN);
    m_state->m_congState = TcpSocketState::CA_OPEN;
}

void
Congestion::Load(const SenderState& sender)
{
    m_state->m_nextTxSequence = sender.next;
    m_state->m_highTxMark = sender.next;
    m_state->m_lastAckedSeq = sender.head;
    m_state->m_cWnd = sender.congestionWindow;
    m_state->m_cWndInfl = sender.congestionWindow;
    m_state->m_ssThresh = sender.slowStartThreshold;
    m_state->m_isCwndLimited = sender.isWindowLimited;
    m_state->m_rcvTimestampValue = sender.timestamp;
    m_state->m_rcvTimestampEchoReply = sender.timestampEcho;
    m_state->m_srtt = Time(sender.rtt.estimatePs);
    m_state->m_lastRtt = Time(sender.rtt.latestPs);
    m_state->m_minRtt = Time(sender.rtt.smallestPs);
}

void
Congestion::NoteUnmarkedAck()
{
    m_control->CwndEvent(m_state, TcpSocketState::CA_EVENT_ECN_NO_CE);
}

void
Congestion::OpenWindow(SenderState& sender, uint32_t segments)
{
    Load(sender);
    m_control->PktsAcked(m_state, segments, m_state->m_srtt);
    m_control->IncreaseWindow(m_state, segments);
    sender.congestionWindow = m_state->m_cWnd;
    sender.slowStartThreshold = m_state->m_ssThresh;
}

} // namespace cosim
