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

TcpTransport::TcpTransport(const TcpSettings& settings)
    : m_settings(settings),
      m_receiverConfig(settings)
{
    SetTcpDefaults(settings);
    m_congestionControl.SetTypeId(CongestionControlType(settings));
    m_prototype = CreateObject<ExpressTcpSocket>();
    m_prototype->Equip();
}

uint32_t
TcpTransport::GetHandshakeBytes() const
{
    return GetSynWireBytes(m_settings);
}

FlowEnds
TcpTransport::Connect(FlowId flow,
                      Time handshakeRtt,
                      SegmentCarrier& carrier,
                      FlowObserver& observer)
{
    Ptr<ExpressTcpSocket> sender = CopyObject(m_prototype);
    sender->SetCarrier(&carrier, m_settings.linkHeaderBytes);
    sender->SetCongestionControl(m_congestionControl);
    sender->Observe(&observer, flow);
    sender->Establish(handshakeRtt);
    m_senders.push_back(sender);
    ExpressReceiver& receiver = m_receivers.emplace_back(m_receiverConfig, carrier, observer, flow);
    return {PeekPointer(sender), &receiver};
}

} // namespace cosim
