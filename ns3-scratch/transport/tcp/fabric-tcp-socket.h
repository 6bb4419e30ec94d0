/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_TCP_SOCKET_H
#define COSIM_FABRIC_TCP_SOCKET_H

#include "transport/flow-observer.h"

#include "ns3/object-factory.h"
#include "ns3/tcp-socket-base.h"

namespace cosim
{

/**
 * ns-3's TCP socket, reporting round trips, timeouts and closing to a FlowObserver.
 *
 * What TCP does is untouched; both packet datapaths build on this class.
 */
class FabricTcpSocket : public ns3::TcpSocketBase
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    FabricTcpSocket() = default;

    /**
     * @param observer told about this socket's flow; not owned, outlives the socket
     * @param flow the flow's id
     */
    void Observe(FlowObserver* observer, FlowId flow);

    /**
     * Give the socket its round-trip estimator and loss recovery, as TcpL4Protocol does for the
     * sockets that it creates.
     */
    void Equip();

    /**
     * Give the socket its congestion control. A copied socket needs it again: some of ns-3's
     * (TcpCubic in 3.44) do not behave alike when they are copied.
     *
     * @param factory makes it
     */
    void SetCongestionControl(const ns3::ObjectFactory& factory);

  protected:
    ns3::Time CalculateRttSample(const ns3::TcpHeader& header,
                                 const ns3::RttHistory& history) override;
    void EstimateRtt(const ns3::TcpHeader& header) override;
    void ReTxTimeout() override;

    FlowObserver* m_observer{nullptr}; //!< not owned; none on a listening socket
    FlowId m_flow{0};                  //!< the flow's id

  private:
    void OnErrorClose(ns3::Ptr<ns3::Socket> socket);

    ns3::Time m_sample; //!< the latest sample of the ACK being processed; zero if it gives none
};

} // namespace cosim

#endif // COSIM_FABRIC_TCP_SOCKET_H
