/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/queue-pair-sender.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

using namespace ns3;

QueuePairSender::QueuePairSender(const RoceSetup& setup,
                                 FlowId flow,
                                 const PathFacts& path,
                                 double windowBytes)
    : m_setup(setup),
      m_flow(flow),
      m_lineBps(path.lineBps),
      m_windowBytes(windowBytes),
      m_stream(setup.settings.payloadBytes),
      m_order(MakeSendOrder(setup.settings)),
      m_control(MakeRateControl(setup.settings, path)),
      m_timer(setup.clock, *this)
{
}

void
QueuePairSender::Submit(uint64_t bytes)
{
    m_stream.Append(bytes);
    m_setup.puller->Wake(m_flow, *this);
}

uint32_t
QueuePairSender::GetWindow() const
{
    double window = m_windowBytes;
    if (m_setup.settings.variableWindow)
    {
        window = std::max(1.0, window * m_control->GetRateBps() / m_lineBps);
    }
    return window < UINT32_MAX ? static_cast<uint32_t>(window) : UINT32_MAX;
}

/// @return true if another packet may be on its way
bool
QueuePairSender::HasRoom() const
{
    return m_order->GetInFlight() < GetWindow() || std::isinf(m_windowBytes);
}

/// @return the time from one packet to the next one at the present rate, after the last one
int64_t
QueuePairSender::GetPacePs() const
{
    constexpr double bytePs = 8e12; // of a byte at 1 bit/s
    const auto unit = static_cast<int64_t>(m_setup.settings.timeUnitPs);
    const auto exact = static_cast<int64_t>(m_lastBytes * bytePs / m_control->GetRateBps());
    return exact / unit * unit;
}

int64_t
QueuePairSender::GetSendPs()
{
    if (m_isClosed || !m_order->HasNext(m_stream))
    {
        return NEVER;
    }
    const int64_t now = m_setup.clock.GetNowPs();
    m_control->Advance(now);
    if (!HasRoom())
    {
        return NEVER;
    }
    const int64_t sendPs = m_lastPs + GetPacePs();
    return sendPs <= now ? now : std::min(sendPs, m_control->GetNextRisePs());
}

Packet*
QueuePairSender::Pull()
{
    const RoceSettings& settings = m_setup.settings;
    const int64_t now = m_setup.clock.GetNowPs();
    const uint64_t sent = m_order->GetSent();
    const uint64_t begin = m_order->TakeNext(m_stream);
    const MessageStream::Part part = m_stream.GetPart(begin);
    RocePacket& packet = *m_setup.packets.Take();
    packet.flow = m_flow;
    packet.payloadBytes = part.bytes;
    packet.wireBytes = part.bytes + settings.headerBytes;
    packet.hop = 0;
    packet.toSender = false;
    packet.ect = settings.ecn;
    packet.ce = false;
    packet.trafficClass = settings.dataClass & 7U;
    packet.type = RocePacket::Type::DATA;
    packet.asksAck = part.isLast || !HasRoom();
    packet.sequence = begin;
    packet.sentPs = now;
    packet.isProbe = settings.telemetry;
    if (settings.telemetry)
    {
        if (!packet.telemetry)
        {
            packet.telemetry = std::make_unique<Telemetry>();
        }
        packet.telemetry->count = 0;
    }
    m_lastPs = now;
    m_lastBytes = packet.wireBytes;
    const double bits = 8.0 * packet.wireBytes;
    m_sentBits += bits;
    m_pacedS += bits / m_control->GetRateBps();
    m_control->OnSent(now, packet.wireBytes);
    if (!m_timer.IsArmed())
    {
        ArmTimer();
    }
    m_setup.sent.Add(packet.wireBytes, part.bytes);
    if (begin < sent)
    {
        m_setup.counters.repeatedBytes += part.bytes;
        m_setup.observer->OnRetransmitted(m_flow, part.bytes);
    }
    return &packet;
}

void
QueuePairSender::ArmTimer()
{
    m_timer.Arm(TimeStep(m_setup.settings.timeoutPs));
}

void
QueuePairSender::Receive(const Packet& packet)
{
    if (m_isClosed)
    {
        return;
    }
    const auto& received = static_cast<const RocePacket&>(packet);
    if (received.type == RocePacket::Type::CNP)
    {
        m_control->OnNotification(m_setup.clock.GetNowPs());
    }
    else
    {
        OnAck(received);
    }
    m_setup.puller->Wake(m_flow, *this);
}

void
QueuePairSender::OnAck(const RocePacket& packet)
{
    const int64_t now = m_setup.clock.GetNowPs();
    const uint64_t before = m_order->GetAcked();
    if (packet.type == RocePacket::Type::ACK)
    {
        m_order->OnAck(packet.sequence);
    }
    else
    {
        m_order->OnNack(m_stream, packet.sequence, packet.arrived);
    }
    const uint64_t acked = m_order->GetAcked();
    if (acked > before)
    {
        m_timeouts = 0;
        m_stream.Forget(acked);
        if (acked < m_order->GetSent())
        {
            ArmTimer();
        }
        else
        {
            m_timer.Cancel();
        }
    }
    const int64_t rttPs = now - packet.sentPs;
    m_control->Advance(now);
    m_control->OnFeedback({now,
                           acked,
                           acked + m_order->GetInFlight(),
                           rttPs,
                           packet.isMarked,
                           packet.isProbe ? packet.telemetry.get() : nullptr});
    m_setup.observer->OnRttSample(m_flow, TimeStep(rttPs), TimeStep(rttPs));
    if (acked > before)
    {
        m_setup.observer->OnAcked(m_flow, acked - before);
    }
}

void
QueuePairSender::OnTimeout()
{
    m_setup.observer->OnTimeout(m_flow, TimeStep(m_setup.settings.timeoutPs));
    if (m_timeouts == m_setup.settings.retries)
    {
        m_isClosed = true;
        m_setup.observer->OnClosed(m_flow);
        return;
    }
    ++m_timeouts;
    m_order->OnTimeout(m_stream);
    ArmTimer();
    m_setup.puller->Wake(m_flow, *this);
}

} // namespace cosim
