/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/tcp-transport.h"

#include "stream/stream.h"
#include "transport/tcp/segment-codec.h"
#include "transport/tcp/tcp-defaults.h"

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

TcpTransport::TcpTransport(const TcpSettings& settings)
    : m_settings(settings),
      m_receiverConfig(settings),
      m_congestionControl(MakeFactory(settings)),
      m_prototype(MakePrototype(settings)),
      m_senderConfig(settings, *m_prototype, *m_congestionControl.Create<TcpCongestionOps>())
{
}

uint32_t
TcpTransport::GetHandshakeBytes() const
{
    return GetSynWireBytes(m_settings);
}

FlowEnds
TcpTransport::Connect(FlowId flow,
                      const Handshake& handshake,
                      SegmentCarrier& carrier,
                      FlowObserver& observer)
{
    TcpSender& sender = m_senders.emplace_back(m_senderConfig,
                                               static_cast<TcpSender::SocketMaker&>(*this),
                                               m_submitLine,
                                               carrier,
                                               observer,
                                               flow,
                                               m_prototype->MakeStartState(handshake));
    ExpressReceiver& receiver = m_receivers.emplace_back(m_receiverConfig, carrier, observer, flow);
    return {&sender, &receiver};
}

Ptr<ExpressTcpSocket>
TcpTransport::MakeSocket()
{
    return CopyObject(m_prototype);
}

Congestion
TcpTransport::MakeCongestion()
{
    return m_prototype->MakeCongestion(m_congestionControl.Create<TcpCongestionOps>());
}

} // namespace cosim
