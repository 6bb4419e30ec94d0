/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-sender.h"

#include "clock/causal-simulator.h"
#include "stream/stream.h"
#include "support/header-sizes.h"
#include "transport/tcp/tcp-defaults.h"

#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

TcpSender::Config::Config(const TcpSettings& settings,
                          const ExpressTcpSocket& prototype,
                          TcpCongestionOps& control)
    : isPredicted(!settings.socketPerFlow && !control.HasCongControl() &&
                  prototype.IsPredictable()),
      isNewReno(control.GetInstanceTypeId() == TcpNewReno::GetTypeId()),
      timestamps(settings.timestamps),
      ecn(settings.ecn),
      windowShift(prototype.GetWindowShift()),
      segmentBytes(settings.segmentBytes),
      headerBytes(settings.linkHeaderBytes + GetDataHeaderBytes(settings.timestamps)),
      linkHeaderBytes(settings.linkHeaderBytes),
      minTimeoutPs(static_cast<int64_t>(settings.minRtoPs)),
      clockGranularityPs(static_cast<int64_t>(settings.clockGranularityPs))
{
}

TcpSender::TcpSender(const Config& config, FlowId flow, const SenderState& state, Time opened)
    : m_config(config),
      m_flow(flow),
      m_state(state),
      m_retransmissionTimer(*this)
{
    if (!config.isNewReno)
    { // ns3::TcpCubic remembers when it began
        CausalSimulator::Get().CallAsAt(opened.GetTimeStep(), [this] { MakeCongestion(); });
    }
    if (!config.isPredicted)
    {
        GetSocket();
    }
}

void
TcpSender::MakeCongestion()
{
    m_congestion = m_config.sockets->MakeCongestion();
    m_congestion.Open(m_state);
}

void
TcpSender::Submit(uint64_t bytes)
{
    if (m_isPredicted)
    {
        m_state.unsent += bytes;
    }
    else
    {
        m_socket->Append(bytes);
    }
    if (m_submitted == 0)
    {
        m_submitted = m_config.submitLine->Add(*this);
    }
}

void
TcpSender::OnSubmitted(int64_t number)
{
    if (number != m_submitted)
    { // the sender was paused in the meantime
        return;
    }
    m_submitted = 0;
    if (m_isPredicted)
    {
        Send();
    }
    else
    {
        m_socket->SendPending();
    }
}

/// Send new data as far as the windows allow.
void
TcpSender::Send()
{
    const uint32_t window = std::min(m_state.window, m_state.congestionWindow);
    while (m_state.unsent > 0)
    {
        const auto inFlight = static_cast<uint32_t>(m_state.next - m_state.head);
        const uint32_t room = inFlight > window ? 0 : window - inFlight;
        if (room == 0 || (room < m_config.segmentBytes && m_state.unsent > room))
        { // a part of a segment waits for the room of a whole one (silly window syndrome)
            if (m_state.congestionWindow < m_state.window)
            {
                m_state.historyPs = CausalSimulator::Get().GetNowPs();
            }
            return;
        }
        SendSegment(static_cast<uint32_t>(
            std::min<uint64_t>(m_state.unsent, std::min(room, m_config.segmentBytes))));
    }
}

void
TcpSender::SendSegment(uint32_t bytes)
{
    Segment* segment = m_config.segments->Take();
    segment->flow = m_flow;
    segment->hop = 0;
    segment->toSender = false;
    segment->ect = m_config.ecn;
    segment->ce = false;
    segment->flags = TcpHeader::ACK;
    segment->payloadBytes = bytes;
    segment->wireBytes = m_config.headerBytes + bytes;
    segment->sequence = m_state.next;
    if (m_config.timestamps)
    {
        segment->timestamp = TcpOptionTS::NowToTsValue();
        segment->timestampEcho = m_state.timestamp;
    }
    if (!m_retransmissionTimer.IsArmed())
    {
        m_retransmissionTimer.Arm(TimeStep(static_cast<uint64_t>(m_state.timeoutPs)));
    }
    m_config.observer->OnPacketSent(m_flow, segment->wireBytes, bytes, false);
    m_config.carrier->Carry(segment);
    m_state.inFlight.Push({CausalSimulator::Get().GetNowPs(), bytes});
    m_state.next += bytes;
    m_state.unsent -= bytes;
    m_state.isWindowLimited =
        m_state.congestionWindow <
        static_cast<uint32_t>(m_state.next - m_state.head) + m_config.segmentBytes;
}

bool
TcpSender::IsAtRest() const
{
    return m_isPredicted && m_state.unsent == 0 && m_submitted == 0;
}

int64_t
TcpSender::AddState(StateDigest& digest) const
{
    digest.Add(uint64_t{m_flow} << 32 | m_state.window);
    const int64_t now = CausalSimulator::Get().GetNowPs();
    digest.Add(m_state.inFlight.GetSize());
    for (std::size_t i = 0; i < m_state.inFlight.GetSize(); ++i)
    {
        const SentSegment& sent = m_state.inFlight.At(i);
        digest.Add(static_cast<uint64_t>(now - sent.sentPs));
        digest.Add(sent.bytes);
    }
    return m_state.historyPs;
}

void
TcpSender::AddPacket(StateDigest& digest, const Packet& packet) const
{
    const auto& segment = static_cast<const Segment&>(packet);
    digest.Add(uint64_t{segment.flow} << 32 | segment.window);
    digest.Add(uint64_t{segment.hop} << 8 | segment.flags);
    digest.Add(static_cast<uint64_t>(segment.acknowledgment - m_state.head));
}

uint32_t
TcpSender::GetWindow() const
{
    return m_isPredicted ? static_cast<uint32_t>(m_state.congestionWindow) : m_socket->GetWindow();
}

void
TcpSender::OnTimeout()
{
    if (m_isPredicted)
    {
        GetSocket();
    }
    m_socket->ReTxTimeout();
}

/// End the prediction: the socket continues from here.
void
TcpSender::GetSocket()
{
    if (!m_socket)
    {
        if (m_congestion.IsNothing())
        {
            MakeCongestion();
        }
        m_socket = m_config.sockets->TakeSocket();
        m_socket->Attach(m_congestion,
                         *m_config.carrier,
                         *m_config.segments,
                         m_config.linkHeaderBytes,
                         m_retransmissionTimer);
        m_socket->Observe(m_config.observer, m_flow);
        m_socket->TakeOver(m_state);
        m_socket->Establish();
    }
    else
    {
        m_socket->TakeOver(m_state);
    }
    m_isPredicted = false;
    m_hasNeededSocket = true;
}

void
TcpSender::Pause()
{
    m_isSubmitInterrupted = m_submitted != 0;
    m_submitted = 0;
    m_timeoutLeft =
        m_retransmissionTimer.IsArmed() ? m_retransmissionTimer.GetDelayLeft() : TimeStep(-1);
    m_retransmissionTimer.Cancel();
    if (m_isPredicted && !m_state.inFlight.IsEmpty())
    { // The prediction knows no segments whose round trip must not be measured.
        GetSocket();
    }
    if (!m_isPredicted)
    {
        m_socket->Suspend();
    }
}

void
TcpSender::Resume()
{
    if (!m_timeoutLeft.IsStrictlyNegative())
    {
        m_retransmissionTimer.Arm(m_timeoutLeft);
    }
    if (!m_isPredicted)
    {
        m_socket->Continue();
    }
    if (m_isSubmitInterrupted)
    {
        Submit(0);
    }
}

} // namespace cosim
