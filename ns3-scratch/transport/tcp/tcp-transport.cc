/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-transport.h"

#include "stream/stream.h"
#include "transport/tcp/segment-codec.h"
#include "transport/tcp/tcp-defaults.h"
#include "transport/tcp/tcp-trail.h"

#include "ns3/object.h"

#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

/// @return a socket with the defaults that the settings set, to be copied
Ptr<ExpressTcpSocket>
MakePrototype(const TcpSettings& settings)
{
    SetTcpDefaults(settings);
    Ptr<ExpressTcpSocket> socket = CreateObject<ExpressTcpSocket>();
    socket->Equip(settings.recovery);
    return socket;
}

/// @return a factory of congestion controls
ObjectFactory
MakeFactory(const TcpSettings& settings)
{
    ObjectFactory factory;
    factory.SetTypeId(CongestionControlType(settings));
    return factory;
}

} // namespace

TcpTransport::Kind::Kind(const TcpSettings& settings, CausalSimulator& clock)
    : m_congestionControl(MakeFactory(settings)),
      m_prototype(MakePrototype(settings)),
      handshakeBytes(GetSynWireBytes(settings)),
      receiver(settings, clock),
      sender(settings, *m_prototype, *m_congestionControl.Create<TcpCongestionOps>(), clock)
{
}

void
TcpTransport::Kind::Attach(PacketCarrier& carrier, FlowObserver& observer, SegmentPool& segments)
{
    sender.carrier = receiver.carrier = &carrier;
    sender.segments = receiver.segments = &segments;
    sender.observer = receiver.observer = &observer;
    sender.sockets = this;
}

TcpTransport::TcpTransport(const std::vector<TcpSettings>& settings,
                           std::span<const uint32_t> kinds,
                           CausalSimulator& clock)
    : m_kindOf(kinds)
{
    for (const TcpSettings& one : settings)
    {
        m_kinds.emplace_back(one, clock);
    }
}

uint32_t
TcpTransport::GetHandshakeBytes(FlowId flow) const
{
    return GetKind(flow).handshakeBytes;
}

void
TcpTransport::Attach(PacketCarrier& carrier, FlowObserver& observer)
{
    for (Kind& kind : m_kinds)
    {
        kind.Attach(carrier, observer, m_segments);
    }
}

FlowEnds
TcpTransport::Connect(FlowId flow, const Handshake& handshake)
{
    const Kind& kind = GetKind(flow);
    TcpSender& sender =
        m_senders.emplace_back(kind.sender, flow, kind.MakeStartState(handshake), handshake.start);
    ExpressReceiver& receiver = m_receivers.emplace_back(kind.receiver, flow, handshake);
    return {&sender, &receiver};
}

void
TcpTransport::Release(Packet* packet)
{
    m_segments.Return(static_cast<Segment*>(packet));
}

PacketCounts
TcpTransport::GetSent() const
{
    PacketCounts sent;
    for (const TcpSender& sender : m_senders)
    {
        AddCounters(sent, sender.GetSent());
    }
    for (const ExpressReceiver& receiver : m_receivers)
    {
        AddCounters(sent, receiver.GetSent());
    }
    return sent;
}

std::unique_ptr<FlowTrail>
TcpTransport::BeginTrail(const FlowEnds& ends) const
{
    if (!static_cast<const TcpSender&>(*ends.sender).GetSilent())
    {
        return nullptr;
    }
    const TcpSender::Config& config = m_kinds.front().sender;
    return std::make_unique<TcpTrail>(ends, config.segmentBytes, config.clock.GetNowPs());
}

Ptr<ExpressTcpSocket>
TcpTransport::Kind::TakeSocket()
{
    if (m_idleSockets.empty())
    {
        return CopyObject(m_prototype);
    }
    const Ptr<ExpressTcpSocket> socket = m_idleSockets.back();
    m_idleSockets.pop_back();
    return socket;
}

void
TcpTransport::Kind::ReturnSocket(const Ptr<ExpressTcpSocket>& socket)
{
    m_idleSockets.push_back(socket);
}

Congestion
TcpTransport::Kind::MakeCongestion()
{
    return m_prototype->MakeCongestion(m_congestionControl.Create<TcpCongestionOps>());
}

} // namespace cosim
