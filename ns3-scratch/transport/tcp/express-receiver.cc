/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/express-receiver.h"

#include "stream/stream.h"
#include "transport/tcp/segment-codec.h"
#include "transport/tcp/tcp-defaults.h"

#include "ns3/object-factory.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-option-ts.h"
#include "ns3/tcp-rx-buffer.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace cosim
{

using namespace ns3;

namespace
{

constexpr uint32_t MAX_WINDOW_FIELD = 65535;
constexpr int MAX_WINDOW_SHIFT = 14; //!< RFC 7323, 2.3

} // namespace

ExpressReceiver::Config::Config(const TcpSettings& settings, CausalSimulator& simulator)
    : clock(simulator),
      window(GetWindow(settings)),
      delayedAckCount(settings.delayedAckSegments),
      delayedAckTimeout(PicoSeconds(settings.delayedAckTimeoutPs)),
      sack(settings.sack),
      timestamps(settings.timestamps),
      ecn(settings.ecn),
      congestionControl(CongestionControlType(settings)),
      linkHeaderBytes(settings.linkHeaderBytes)
{
    uint32_t field = window;
    for (int shift = 0; settings.windowScaling && field > MAX_WINDOW_FIELD; ++shift)
    {
        if (shift == MAX_WINDOW_SHIFT)
        {
            break;
        }
        field >>= 1;
    }
    advertised = static_cast<uint16_t>(std::min(field, MAX_WINDOW_FIELD));
}

ExpressReceiver::ExpressReceiver(const Config& config, FlowId flow, const Handshake& handshake)
    : m_config(config),
      m_flow(flow),
      // Acknowledge the first data packet at once, as a socket does after ns-3's handshake.
      m_unacknowledged(config.delayedAckCount),
      // the timestamp of the packet that completes the handshake
      m_latestTimestamp(static_cast<uint32_t>((handshake.start + handshake.rtt).GetMilliSeconds())),
      m_timestampToEcho(m_latestTimestamp)
{
    if (config.delayedAckCount > 1)
    {
        m_delayedAckTimer = std::make_unique<DelayedAckTimer>(config.clock, *this);
    }
    if (config.ecn)
    {
        m_tcb = CreateObject<TcpSocketState>();
        m_tcb->m_rxBuffer = CreateObject<TcpRxBuffer>();
        m_tcb->m_rxBuffer->SetNextRxSequence(m_next);
        m_tcb->m_useEcn = TcpSocketState::On;
        m_tcb->m_ecnState = TcpSocketState::ECN_IDLE;
        m_tcb->m_sendEmptyPacketCallback = MakeCallback(&ExpressReceiver::SendAck, this);
        ObjectFactory factory;
        factory.SetTypeId(config.congestionControl);
        m_ops = factory.Create<TcpCongestionOps>();
        m_ops->Init(m_tcb);
    }
}

void
ExpressReceiver::Receive(const Packet& packet)
{
    const auto& segment = static_cast<const Segment&>(packet);
    const SequenceNumber32 next = m_next;
    if (segment.sequence + segment.payloadBytes < next ||
        segment.sequence >= next + m_config.window)
    {
        // The segment is outside the window, so it repeats data that was received in order (RFC
        // 793, p. 69).
        m_config.observer->OnRepeated(m_flow);
        SendAck(TcpHeader::ACK);
        return;
    }
    NoteEcn(segment);
    NoteTimestamp(segment);
    const Stored stored = Store(segment);
    const auto advanced = static_cast<uint32_t>(m_next - next);
    if (advanced > 0)
    {
        m_config.observer->OnDelivered(m_flow, advanced);
    }
    if (stored == Stored::NOTHING)
    {
        m_config.observer->OnRepeated(m_flow);
        Acknowledge();
    }
    else if (stored == Stored::WITH_GAP || ++m_unacknowledged >= m_config.delayedAckCount)
    {
        Signal(TcpSocketState::CA_EVENT_NON_DELAYED_ACK);
        Acknowledge();
    }
    else
    {
        Signal(TcpSocketState::CA_EVENT_DELAYED_ACK);
        if (!m_delayedAckTimer->IsArmed())
        {
            m_delayedAckTimer->Arm(m_config.delayedAckTimeout);
        }
    }
}

void
ExpressReceiver::Advance(uint32_t bytes, int64_t echoedPs)
{
    m_next += bytes;
    m_highestAck = m_next;
    m_unacknowledged = 0;
    if (m_config.timestamps)
    {
        m_timestampToEcho = static_cast<uint32_t>(TimeStep(echoedPs).GetMilliSeconds());
        m_latestTimestamp = m_timestampToEcho;
    }
}

void
ExpressReceiver::NoteEcn(const Segment& segment)
{
    if (!m_tcb)
    {
        return;
    }
    if (segment.ce && m_congestedAt < segment.sequence)
    {
        m_congestedAt = segment.sequence;
        m_tcb->m_ecnState = TcpSocketState::ECN_CE_RCVD;
        m_ops->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_IS_CE);
    }
    else if (segment.ect)
    {
        m_ops->CwndEvent(m_tcb, TcpSocketState::CA_EVENT_ECN_NO_CE);
    }
    if ((segment.flags & TcpHeader::CWR) != 0 && m_tcb->m_ecnState != TcpSocketState::ECN_CE_RCVD)
    { // The sender has answered the ECN echo.
        m_tcb->m_ecnState = TcpSocketState::ECN_IDLE;
    }
}

void
ExpressReceiver::NoteTimestamp(const Segment& segment)
{
    if (!m_config.timestamps || segment.timestamp < m_latestTimestamp)
    { // A smaller timestamp means that the segment was reordered.
        return;
    }
    m_latestTimestamp = segment.timestamp;
    if (segment.sequence == m_next && m_next <= m_highestAck)
    { // A delayed ACK echoes the first segment that it acknowledges (RFC 7323, 4.3).
        m_timestampToEcho = segment.timestamp;
    }
}

ExpressReceiver::Stored
ExpressReceiver::Store(const Segment& segment)
{
    const Stored stored = Reassemble(segment);
    if (m_tcb)
    { // for the congestion control
        m_tcb->m_rxBuffer->SetNextRxSequence(m_next);
    }
    return stored;
}

ExpressReceiver::Stored
ExpressReceiver::Reassemble(const Segment& segment)
{
    const SequenceNumber32 next = m_next;
    const SequenceNumber32 end = segment.sequence + segment.payloadBytes;
    if (segment.sequence == next && (!m_reassembly || m_reassembly->IsEmpty()))
    { // Nobody reads the content, so data in order only advances the sequence number.
        m_next = end;
        return Stored::IN_ORDER;
    }
    if (!m_reassembly)
    {
        m_reassembly = std::make_unique<Reassembly>(m_config.window);
    }
    if (!m_reassembly->Add({segment.sequence, end}, m_next))
    {
        return Stored::NOTHING;
    }
    const bool isGap = !m_reassembly->IsEmpty() || m_next > next + segment.payloadBytes;
    return isGap ? Stored::WITH_GAP : Stored::IN_ORDER;
}

void
ExpressReceiver::Acknowledge()
{
    const bool echo = m_tcb && (m_tcb->m_ecnState == TcpSocketState::ECN_CE_RCVD ||
                                m_tcb->m_ecnState == TcpSocketState::ECN_SENDING_ECE);
    SendAck(echo ? TcpHeader::ACK | TcpHeader::ECE : TcpHeader::ACK);
    if (echo)
    {
        m_tcb->m_ecnState = TcpSocketState::ECN_SENDING_ECE;
    }
}

void
ExpressReceiver::SendAck(uint8_t flags)
{
    if (m_delayedAckTimer)
    {
        m_delayedAckTimer->Cancel();
    }
    m_unacknowledged = 0;
    Segment* segment = m_config.segments->Take();
    segment->flow = m_flow;
    segment->hop = 0;
    segment->toSender = true;
    segment->trafficClass = 0; // a reused segment has that of its flow
    segment->ect = m_tcb && m_tcb->m_ecnMode == TcpSocketState::DctcpEcn;
    segment->ce = false;
    segment->flags = flags;
    segment->window = m_config.advertised;
    segment->payloadBytes = 0;
    segment->sequence = SequenceNumber32(1); // this endpoint has sent nothing but the SYN
    // ns3::TcpDctcp puts an earlier number there when it repeats an ACK.
    segment->acknowledgment = m_tcb ? m_tcb->m_rxBuffer->NextRxSequence() : m_next;
    m_highestAck = std::max(m_highestAck, segment->acknowledgment);
    if (m_config.timestamps)
    {
        segment->timestamp = TcpOptionTS::NowToTsValue();
        segment->timestampEcho = m_timestampToEcho;
    }
    if (m_config.sack && m_reassembly && !m_reassembly->GetSackBlocks().empty())
    {
        const std::vector<Reassembly::Block>& blocks = m_reassembly->GetSackBlocks();
        const auto count = std::min(blocks.size(), GetSackRoom(m_config.timestamps));
        segment->sackBlocks = std::make_unique<TcpOptionSack::SackList>(
            blocks.begin(),
            blocks.begin() + static_cast<std::ptrdiff_t>(count));
    }
    segment->wireBytes = GetWireBytes(*segment, m_config.timestamps, m_config.linkHeaderBytes);
    m_sent.Add(segment->wireBytes, 0);
    m_config.carrier->Carry(segment);
}

void
ExpressReceiver::OnDelayedAckTimeout()
{
    Signal(TcpSocketState::CA_EVENT_DELAYED_ACK);
    Acknowledge();
}

void
ExpressReceiver::Signal(TcpSocketState::TcpCAEvent_t event)
{
    if (m_ops)
    {
        m_ops->CwndEvent(m_tcb, event);
    }
}

} // namespace cosim
