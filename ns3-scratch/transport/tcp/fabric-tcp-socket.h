/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_TCP_SOCKET_H
#define COSIM_FABRIC_TCP_SOCKET_H

#include "stream/stream.h"
#include "transport/flow-observer.h"

#include "ns3/object-factory.h"
#include "ns3/tcp-socket-base.h"

namespace cosim
{

/**
 * ns-3's TCP socket, extended to report round trips, timeouts and closing to a FlowObserver.
 *
 * The behaviour of TCP is unchanged, but for one mistake of ns-3.44 that would end the run (see
 * ProcessAck). The sockets of both packet-level fabrics derive from this class.
 */
class FabricTcpSocket : public ns3::TcpSocketBase
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    FabricTcpSocket() = default;

    /**
     * @param observer notified of the events of this socket's flow; not owned; must outlive the
     * socket
     * @param flow id of the flow
     */
    void Observe(FlowObserver* observer, FlowId flow);

    /// @return the congestion window [bytes]
    uint32_t GetWindow() const
    {
        return m_tcb->m_cWnd;
    }

    /**
     * Give the socket its round-trip estimator and its loss recovery, as TcpL4Protocol does for the
     * sockets that it creates.
     *
     * @param recovery the loss recovery
     */
    void Equip(LossRecovery recovery);

    /**
     * Give the socket its congestion control. A copied socket needs a new one, because some
     * congestion controls of ns-3 (TcpCubic in 3.44) behave differently after they are copied.
     *
     * @param factory creates the congestion control
     */
    void SetCongestionControl(const ns3::ObjectFactory& factory);

  protected:
    ns3::Time CalculateRttSample(const ns3::TcpHeader& header,
                                 const ns3::RttHistory& history) override;
    void EstimateRtt(const ns3::TcpHeader& header) override;
    void ReTxTimeout() override;
    void ProcessAck(const ns3::SequenceNumber32& ackNumber,
                    bool scoreboardUpdated,
                    uint32_t currentDelivered,
                    const ns3::SequenceNumber32& oldHeadSequence,
                    bool receivedData) override;

    FlowObserver* m_observer{nullptr}; //!< not owned; null on a listening socket
    FlowId m_flow{0};                  //!< id of the flow

  private:
    void OnErrorClose(ns3::Ptr<ns3::Socket> socket);

    /// latest round trip that the processed ACK ends, by the simulator's clock; zero if there is
    /// none
    ns3::Time m_sample;
};

} // namespace cosim

#endif // COSIM_FABRIC_TCP_SOCKET_H
