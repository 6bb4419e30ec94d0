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
#include <limits>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// TcpSocketBase takes a round trip shorter than a tick of the timestamps as this one.
constexpr int64_t SMALLEST_TIMESTAMP_RTT_PS = 1'000'000;

} // namespace

TcpSender::Config::Config(const TcpSettings& settings,
                          const ExpressTcpSocket& prototype,
                          TcpCongestionOps& control,
                          CausalSimulator& simulator)
    : clock(simulator),
      isPredicted(!settings.socketPerFlow && !control.HasCongControl() &&
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
      m_retransmissionTimer(config.clock, *this)
{
    if (!config.isNewReno)
    { // ns3::TcpCubic remembers when it began
        config.clock.CallAsAt(opened.GetTimeStep(), [this] { MakeCongestion(); });
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
    if (!m_isSubmitPending)
    { // like TcpSocketBase, which sends one tick later
        m_isSubmitPending = true;
        m_config.clock.Schedule(m_config.clock.GetNowPs() + 1,
                                *this,
                                m_config.clock.MakeOrigin(),
                                this);
    }
}

void
TcpSender::Happen()
{
    if (m_interrupted > 0)
    { // the sender was paused in the meantime
        --m_interrupted;
        return;
    }
    m_isSubmitPending = false;
    if (m_isAbandoned)
    {
        return;
    }
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
                m_state.limitedPs = m_config.clock.GetNowPs();
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
    segment->trafficClass = 0; // a reused segment has that of its flow
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
    m_sent.Add(segment->wireBytes, bytes);
    m_config.carrier->Carry(segment);
    m_state.inFlight.Push({m_config.clock.GetNowPs(), bytes});
    m_state.next += bytes;
    m_state.unsent -= bytes;
    m_state.isWindowLimited =
        m_state.congestionWindow <
        static_cast<uint32_t>(m_state.next - m_state.head) + m_config.segmentBytes;
}

std::optional<SilentState>
TcpSender::GetSilent() const
{
    const bool isSilent = m_state.unsent == 0 && !m_isSubmitPending && m_state.inFlight.IsEmpty();
    if (!m_config.isPredicted || !m_config.isNewReno || m_config.ecn || m_hasNeededSocket ||
        !m_isPredicted || !isSilent || m_state.timeoutPs < m_config.minTimeoutPs)
    {
        return std::nullopt;
    }
    return SilentState{m_state.head,
                       m_state.window,
                       m_state.congestionWindow,
                       m_state.slowStartThreshold,
                       m_state.uncounted,
                       m_state.isAnswered};
}

void
TcpSender::Advance(uint32_t bytes,
                   const SilentState& end,
                   std::span<const RoundTrip> roundTrips,
                   int64_t startPs,
                   std::unique_ptr<RttMemo>& memo)
{
    m_state.head += bytes;
    m_state.next += bytes;
    m_state.window = end.window;
    m_state.congestionWindow = end.congestionWindow;
    m_state.uncounted = end.uncounted;
    m_state.isAnswered = end.isAnswered;
    if (m_config.timestamps)
    { // they tick in milliseconds, so the measurements depend on the time
        Estimate(roundTrips, startPs);
    }
    else if (memo && memo->before.IsSameEstimate(m_state.rtt))
    {
        RttState after = memo->after;
        after.samples += m_state.rtt.samples - memo->before.samples;
        after.smallestPs = std::min(memo->after.smallestPs, m_state.rtt.smallestPs);
        m_state.rtt = after;
    }
    else
    {
        const RttState before = m_state.rtt;
        m_state.rtt.smallestPs = std::numeric_limits<int64_t>::max();
        Estimate(roundTrips, startPs);
        memo = std::make_unique<RttMemo>(before, m_state.rtt);
        m_state.rtt.smallestPs = std::min(m_state.rtt.smallestPs, before.smallestPs);
    }
    m_state.timeoutPs =
        m_state.rtt.GetTimeoutPs(m_config.clockGranularityPs, m_config.minTimeoutPs);
}

/// Let round trips of the past count for the estimate.
void
TcpSender::Estimate(std::span<const RoundTrip> roundTrips, int64_t startPs)
{
    for (const RoundTrip& one : roundTrips)
    {
        const int64_t now = startPs + one.atPs;
        // An ACK echoes the timestamp of the first segment that it acknowledges.
        const auto echo = static_cast<uint32_t>(TimeStep(now - one.oldestPs).GetMilliSeconds());
        m_config.clock.CallAsAt(now, [&] { Measure(one.oldestPs, one.latestPs, echo); });
    }
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
                         m_retransmissionTimer,
                         m_sent);
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
    m_isSubmitInterrupted = std::exchange(m_isSubmitPending, false);
    m_interrupted += m_isSubmitInterrupted ? 1 : 0;
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

// What an ACK means while it is the one that TCP expects.

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
    const int64_t now = m_config.clock.GetNowPs();
    const int64_t oldest = now - m_state.inFlight.Front().sentPs;
    for (std::size_t i = 1; i < segments; ++i)
    {
        m_state.inFlight.Pop();
    }
    if (oldest >= m_config.minTimeoutPs)
    {
        m_state.slowPs = now;
    }
    const int64_t latest = now - m_state.inFlight.Front().sentPs;
    m_state.inFlight.Pop();
    Measure(oldest, latest, ack.timestampEcho);
    if (latest > 0)
    {
        m_config.observer->OnRttSample(m_flow, TimeStep(latest), TimeStep(oldest));
    }
}

/**
 * Let a round trip count for the estimate.
 *
 * @param oldestPs since the first segment that is acknowledged was sent
 * @param latestPs since the last one was sent
 * @param echo the timestamp in the acknowledgment
 */
void
TcpSender::Measure(int64_t oldestPs, int64_t latestPs, uint32_t echo)
{
    if (m_config.timestamps)
    {
        latestPs = TcpOptionTS::ElapsedTimeFromTsValue(echo).GetTimeStep();
        latestPs = latestPs == 0 ? SMALLEST_TIMESTAMP_RTT_PS : latestPs;
        oldestPs = latestPs;
    }
    if (latestPs != 0)
    {
        m_state.rtt.latestPs = latestPs;
    }
    if (oldestPs != 0)
    {
        m_state.rtt.Measure(oldestPs);
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
