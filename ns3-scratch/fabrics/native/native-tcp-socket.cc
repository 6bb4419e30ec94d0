/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/native-tcp-socket.h"

#include "support/header-sizes.h"

#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/tcp-header.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-tx-buffer.h"

#include <algorithm>

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(NativeTcpSocket);

namespace
{

/**
 * Largest number of bytes that is put into the send buffer at once. The arithmetic of the buffer
 * uses 32 bits.
 */
constexpr uint64_t MAX_FEED_BYTES = uint64_t{1} << 29;

} // namespace

TypeId
NativeTcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("cosim::NativeTcpSocket")
                            .SetParent<FabricTcpSocket>()
                            .SetGroupName("Cosim")
                            .AddConstructor<NativeTcpSocket>();
    return tid;
}

void
NativeTcpSocket::Attach(Ptr<Node> node)
{
    Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>();
    SetNode(node);
    SetTcp(tcp);
    tcp->AddSocket(this);
}

void
NativeTcpSocket::SetLinkHeaderBytes(uint32_t linkHeaderBytes)
{
    m_linkHeaderBytes = linkHeaderBytes;
}

void
NativeTcpSocket::StartReporting()
{
    m_isReporting = true;
    TraceConnectWithoutContext("Tx", MakeCallback(&NativeTcpSocket::OnTransmit, this));
    SetRecvCallback(MakeCallback(&NativeTcpSocket::OnReadable, this));
}

void
NativeTcpSocket::Submit(uint64_t bytes)
{
    m_unfed += bytes;
    Feed();
}

bool
NativeTcpSocket::IsEstablished() const
{
    return m_state == ESTABLISHED;
}

void
NativeTcpSocket::Feed()
{
    while (m_unfed > 0)
    {
        const uint64_t bytes = std::min(m_unfed, MAX_FEED_BYTES);
        if (bytes > GetTxAvailable())
        {
            return; // continue when an ACK has freed room
        }
        Send(Create<Packet>(static_cast<uint32_t>(bytes)), 0);
        m_unfed -= bytes;
    }
}

Ptr<TcpSocketBase>
NativeTcpSocket::Fork()
{
    return CopyObject<NativeTcpSocket>(Ptr<NativeTcpSocket>(this));
}

void
NativeTcpSocket::NewAck(const SequenceNumber32& ack, bool resetRto)
{
    FabricTcpSocket::NewAck(ack, resetRto);
    if (m_isReporting)
    {
        Feed();
        m_observer->OnAcked(m_flow, static_cast<uint32_t>(ack - m_acked));
        m_acked = ack;
    }
}

void
NativeTcpSocket::OnTransmit(Ptr<const Packet> packet,
                            const TcpHeader& header,
                            Ptr<const TcpSocketBase> /* socket */)
{
    const uint32_t payload = packet->GetSize();
    const uint32_t wire =
        m_linkHeaderBytes + IPV4_HEADER_BYTES + header.GetSerializedSize() + payload;
    const SequenceNumber32 end = header.GetSequenceNumber() + payload;
    m_sent.Add(wire, payload);
    if (payload > 0 && end <= m_highestSent)
    {
        m_observer->OnRetransmitted(m_flow, payload);
    }
    m_highestSent = std::max(m_highestSent, end);
}

void
NativeTcpSocket::OnReadable(Ptr<Socket> /* socket */)
{
    uint64_t bytes = 0;
    while (Ptr<Packet> packet = Recv(UINT32_MAX, 0))
    {
        if (packet->GetSize() == 0)
        {
            break;
        }
        bytes += packet->GetSize();
    }
    if (bytes > 0)
    {
        m_observer->OnDelivered(m_flow, bytes);
    }
}

} // namespace cosim
