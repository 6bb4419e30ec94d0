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

TcpTransport::TcpTransport(const TcpSettings& settings, CausalSimulator& clock)
    : m_settings(settings),
      m_receiverConfig(settings, clock),
      m_congestionControl(MakeFactory(settings)),
      m_prototype(MakePrototype(settings)),
      m_senderConfig(settings, *m_prototype, *m_congestionControl.Create<TcpCongestionOps>(), clock)
{
}

uint32_t
TcpTransport::GetHandshakeBytes() const
{
    return GetSynWireBytes(m_settings);
}

void
TcpTransport::Attach(PacketCarrier& carrier, FlowObserver& observer)
{
    m_senderConfig.carrier = m_receiverConfig.carrier = &carrier;
    m_senderConfig.segments = m_receiverConfig.segments = &m_segments;
    m_senderConfig.observer = m_receiverConfig.observer = &observer;
    m_senderConfig.sockets = this;
}

FlowEnds
TcpTransport::Connect(FlowId flow, const Handshake& handshake)
{
    TcpSender& sender = m_senders.emplace_back(m_senderConfig,
                                               flow,
                                               m_prototype->MakeStartState(handshake),
                                               handshake.start);
    ExpressReceiver& receiver = m_receivers.emplace_back(m_receiverConfig, flow, handshake);
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
    return std::make_unique<TcpTrail>(ends,
                                      m_senderConfig.segmentBytes,
                                      m_senderConfig.clock.GetNowPs());
}

Ptr<ExpressTcpSocket>
TcpTransport::TakeSocket()
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
TcpTransport::ReturnSocket(const Ptr<ExpressTcpSocket>& socket)
{
    m_idleSockets.push_back(socket);
}

Congestion
TcpTransport::MakeCongestion()
{
    return m_prototype->MakeCongestion(m_congestionControl.Create<TcpCongestionOps>());
}

} // namespace cosim
