/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NATIVE_TCP_SOCKET_H
#define COSIM_NATIVE_TCP_SOCKET_H

#include "transport/packet-counts.h"
#include "transport/tcp/fabric-tcp-socket.h"

#include <cstdint>

namespace cosim
{

/**
 * An endpoint of a flow in the native fabric: ns-3's TcpSocketBase on a node, over IP.
 *
 * This class only adds the reports to the FlowObserver, and the feeding of the send buffer.
 */
class NativeTcpSocket : public FabricTcpSocket
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    NativeTcpSocket() = default;

    /**
     * Attach the socket to a node, as TcpL4Protocol::CreateSocket does.
     *
     * @param node a node with a TcpL4Protocol
     */
    void Attach(ns3::Ptr<ns3::Node> node);

    /// @param linkHeaderBytes header bytes per packet in addition to IP and TCP
    void SetLinkHeaderBytes(uint32_t linkHeaderBytes);

    /// Start to count sent packets, and to report acknowledgments and, at a receiver, delivered
    /// bytes.
    void StartReporting();

    /// @param bytes number of bytes to append to the stream of data
    void Submit(uint64_t bytes);

    /// @return the packets that were sent
    const PacketCounts& GetSent() const
    {
        return m_sent;
    }

    /// @return true if the connection is established
    bool IsEstablished() const;

  protected:
    ns3::Ptr<ns3::TcpSocketBase> Fork() override;
    void NewAck(const ns3::SequenceNumber32& ack, bool resetRto) override;

  private:
    void Feed();
    void OnTransmit(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::TcpHeader& header,
                    ns3::Ptr<const ns3::TcpSocketBase> socket);
    void OnReadable(ns3::Ptr<ns3::Socket> socket);

    uint32_t m_linkHeaderBytes{0};
    PacketCounts m_sent;
    uint64_t m_unfed{0}; //!< bytes that were submitted and are not in the send buffer yet
    ns3::SequenceNumber32 m_acked{1};
    ns3::SequenceNumber32 m_highestSent{1}; //!< data below this sequence number was sent before
    bool m_isReporting{false};
};

} // namespace cosim

#endif // COSIM_NATIVE_TCP_SOCKET_H
