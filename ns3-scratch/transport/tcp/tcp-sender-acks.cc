/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of TcpSender that receives: what an ACK means while it is the one that TCP expects.

#include "clock/causal-simulator.h"
#include "transport/tcp/tcp-sender.h"

#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

namespace
{

/// TcpSocketBase takes a round trip shorter than a tick of the timestamps as this one.
constexpr int64_t SMALLEST_TIMESTAMP_RTT_PS = 1'000'000;

} // namespace

void
TcpSender::Receive(const Packet& packet)
{
    const auto& segment = static_cast<const Segment&>(packet);
    if (m_isPredicted)
    {
        if (const std::size_t segments = CountAcknowledged(segment); segments > 0)
        {
            Acknowledge(segment, segments);
            Send();
            return;
        }
        GetSocket();
    }
    m_socket->Receive(segment);
    m_isPredicted = m_config.isPredicted && m_socket->HandBack(m_state);
    if (m_isPredicted && !m_config.ecn)
    {
        m_config.sockets->ReturnSocket(m_socket);
        m_socket = nullptr;
    }
}

/**
 * @return the number of segments that an ACK acknowledges, if it is an ACK as predicted: it
 * acknowledges whole segments and says nothing else. Otherwise 0.
 */
std::size_t
TcpSender::CountAcknowledged(const Segment& ack) const
{
    if (ack.flags != TcpHeader::ACK || ack.ce || ack.sackBlocks ||
        ack.acknowledgment <= m_state.head || ack.acknowledgment > m_state.next)
    {
        return 0;
    }
    auto left = static_cast<uint32_t>(ack.acknowledgment - m_state.head);
    for (std::size_t i = 0; i < m_state.inFlight.GetSize(); ++i)
    {
        const uint32_t bytes = m_state.inFlight.At(i).bytes;
        if (left <= bytes)
        {
            return left == bytes ? i + 1 : 0;
        }
        left -= bytes;
    }
    return 0;
}

/// Process an ACK as predicted, in the order of TcpSocketBase.
void
TcpSender::Acknowledge(const Segment& ack, std::size_t segments)
{
    if (!m_config.isNewReno && ack.ect && m_config.ecn)
    {
        m_congestion.NoteUnmarkedAck();
    }
    if (m_config.timestamps && m_state.timestamp <= ack.timestamp)
    {
        m_state.timestamp = ack.timestamp;
        m_state.timestampEcho = ack.timestampEcho;
    }
    EstimateRtt(ack, segments);
    m_state.window = uint32_t{ack.window} << m_config.windowShift;
    m_state.isAnswered = true;
    const auto acked = static_cast<uint32_t>(ack.acknowledgment - m_state.head);
    m_state.head = ack.acknowledgment;
    OpenWindow(acked);
    m_state.timeoutPs =
        m_state.rtt.GetTimeoutPs(m_config.clockGranularityPs, m_config.minTimeoutPs);
    m_retransmissionTimer.Arm(TimeStep(static_cast<uint64_t>(m_state.timeoutPs)));
    if (m_state.inFlight.IsEmpty() && m_state.unsent == 0)
    { // Like TcpSocketBase, keep the timer for data that no window lets go.
        m_retransmissionTimer.Cancel();
    }
    m_config.observer->OnAcked(m_flow, acked);
}

/// Do what TcpSocketBase::EstimateRtt does, and remove the acknowledged segments.
void
TcpSender::EstimateRtt(const Segment& ack, std::size_t segments)
{
    const int64_t now = CausalSimulator::Get().GetNowPs();
    int64_t first = now - m_state.inFlight.Front().sentPs;
    for (std::size_t i = 1; i < segments; ++i)
    {
        m_state.inFlight.Pop();
    }
    if (first >= m_config.minTimeoutPs)
    {
        m_state.historyPs = now;
    }
    int64_t latest = now - m_state.inFlight.Front().sentPs;
    const int64_t observed = latest;
    m_state.inFlight.Pop();
    if (m_config.timestamps)
    {
        latest = TcpOptionTS::ElapsedTimeFromTsValue(ack.timestampEcho).GetTimeStep();
        latest = latest == 0 ? SMALLEST_TIMESTAMP_RTT_PS : latest;
        first = latest;
    }
    if (latest != 0)
    {
        m_state.rtt.latestPs = latest;
    }
    if (first != 0)
    {
        m_state.rtt.Measure(first);
    }
    if (observed > 0)
    {
        m_config.observer->OnRttSample(m_flow, TimeStep(static_cast<uint64_t>(observed)));
    }
}

/// Count segments as TcpSocketBase::ProcessAck does, and open the congestion window.
void
TcpSender::OpenWindow(uint32_t ackedBytes)
{
    uint32_t segments = ackedBytes / m_config.segmentBytes;
    m_state.uncounted += ackedBytes % m_config.segmentBytes;
    if (m_state.uncounted >= m_config.segmentBytes)
    {
        ++segments;
        m_state.uncounted -= m_config.segmentBytes;
    }
    if (m_config.isNewReno)
    {
        OpenWindowOfNewReno(segments);
    }
    else
    {
        m_congestion.OpenWindow(m_state, segments);
    }
}

/// Do what ns3::TcpNewReno::IncreaseWindow does.
void
TcpSender::OpenWindowOfNewReno(uint32_t segments)
{
    if (m_state.congestionWindow < m_state.slowStartThreshold && segments > 0)
    {
        m_state.congestionWindow += m_config.segmentBytes;
        --segments;
    }
    if (m_state.congestionWindow >= m_state.slowStartThreshold && segments > 0)
    {
        const double step = static_cast<double>(m_config.segmentBytes * m_config.segmentBytes) /
                            m_state.congestionWindow;
        m_state.congestionWindow += static_cast<uint32_t>(std::max(1.0, step));
    }
}

} // namespace cosim
