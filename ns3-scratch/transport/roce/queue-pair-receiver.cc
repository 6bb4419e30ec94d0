/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/queue-pair-receiver.h"

namespace cosim
{

QueuePairReceiver::QueuePairReceiver(const RoceSetup& setup, FlowId flow)
    : m_setup(setup),
      m_flow(flow),
      m_order(MakeReceiveOrder(setup.settings))
{
}

void
QueuePairReceiver::Receive(const Packet& packet)
{
    const RoceSettings& settings = m_setup.settings;
    const auto& data = static_cast<const RocePacket&>(packet);
    if (data.ce)
    {
        Notify(data);
    }
    const uint64_t before = m_order->GetExpected();
    const ReceiveOrder::Verdict verdict = m_order->Take(data.sequence, data.payloadBytes);
    const uint64_t taken = m_order->GetExpected() - before;
    if (taken > 0)
    {
        m_setup.observer->OnDelivered(m_flow, taken);
    }
    if (verdict == ReceiveOrder::Verdict::MISSING)
    {
        const int64_t now = m_setup.clock.GetNowPs();
        if (m_order->ReportsAll() || m_missing != m_order->GetExpected() || now >= m_missingUntilPs)
        {
            m_missing = m_order->GetExpected();
            m_missingUntilPs = now + static_cast<int64_t>(settings.nackIntervalPs);
            ++m_setup.counters.nacks;
            Answer(RocePacket::Type::NACK, data);
        }
        return;
    }
    if (verdict == ReceiveOrder::Verdict::REPEATED)
    {
        m_setup.observer->OnRepeated(m_flow);
    }
    m_unacked += data.payloadBytes;
    const bool hasFilledGap = taken > data.payloadBytes;
    if (data.asksAck || hasFilledGap || m_unacked >= settings.ackIntervalBytes)
    {
        m_unacked = 0;
        Answer(RocePacket::Type::ACK, data);
    }
}

/// Send an ACK, a NACK or a CNP because of a data packet.
void
QueuePairReceiver::Answer(RocePacket::Type type, const RocePacket& data)
{
    const RoceSettings& settings = m_setup.settings;
    const bool isNotice = type == RocePacket::Type::CNP;
    RocePacket& packet = *m_setup.packets.Take();
    packet.flow = m_flow;
    packet.payloadBytes = 0;
    packet.wireBytes = isNotice ? settings.cnpBytes : settings.ackBytes;
    packet.hop = 0;
    packet.toSender = true;
    packet.ect = false;
    packet.ce = false;
    packet.trafficClass = settings.ackClass & 7U;
    packet.type = type;
    packet.asksAck = false;
    packet.isMarked = !isNotice && m_isMarked;
    packet.sequence = m_order->GetExpected();
    packet.arrived = data.sequence;
    packet.sentPs = data.sentPs;
    packet.isProbe = false;
    if (!isNotice)
    {
        if (m_isMarked && settings.cnpBytes == 0)
        {
            ++m_setup.counters.cnps;
        }
        m_isMarked = false;
        if (data.isProbe)
        {
            packet.isProbe = true;
            if (!packet.telemetry)
            {
                packet.telemetry = std::make_unique<Telemetry>();
            }
            *packet.telemetry = *data.telemetry;
        }
    }
    m_setup.sent.Add(packet.wireBytes, 0);
    m_setup.carrier->Carry(&packet);
}

/// Note that a packet is marked, and send a CNP if it is time for one.
void
QueuePairReceiver::Notify(const RocePacket& data)
{
    m_isMarked = true;
    const int64_t now = m_setup.clock.GetNowPs();
    if (m_setup.settings.cnpBytes > 0 && now >= m_notifyPs)
    {
        m_notifyPs = now + static_cast<int64_t>(m_setup.settings.cnpIntervalPs);
        ++m_setup.counters.cnps;
        Answer(RocePacket::Type::CNP, data);
    }
}

} // namespace cosim
