/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NATIVE_TCP_SOCKET_H
#define COSIM_NATIVE_TCP_SOCKET_H

#include "transport/tcp/fabric-tcp-socket.h"

#include <cstdint>

namespace cosim
{

/**
 * One end of a flow in the native fabric: TcpSocketBase on a node, over IP, as ns-3 ships it.
 *
 * Added is only what reports to the FlowObserver, and the feeding of the send buffer.
 */
class NativeTcpSocket : public FabricTcpSocket
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    NativeTcpSocket() = default;

    /**
     * Put the socket on a node, as TcpL4Protocol::CreateSocket does.
     *
     * @param node the node; it has a TcpL4Protocol
     */
    void Attach(ns3::Ptr<ns3::Node> node);

    /// @param linkHeaderBytes per packet beside IP and TCP
    void SetLinkHeaderBytes(uint32_t linkHeaderBytes);

    /// Report from now on: packets sent, acknowledgements, and, at a receiver, deliveries.
    void StartReporting();

    /// @param bytes more for the stream
    void Submit(uint64_t bytes);

    /// @return whether the connection is established
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
    uint64_t m_unfed{0}; //!< submitted, not yet in the send buffer
    ns3::SequenceNumber32 m_acked{1};
    ns3::SequenceNumber32 m_highestSent{1}; //!< what is below was sent before
    bool m_isReporting{false};
};

} // namespace cosim

#endif // COSIM_NATIVE_TCP_SOCKET_H
