/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CONGESTION_H
#define COSIM_CONGESTION_H

#include "transport/tcp/sender-state.h"

#include "ns3/ptr.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"

#include <cstdint>

namespace cosim
{

/**
 * The congestion control of a flow, and the state that it reads and writes.
 *
 * Both are ns-3's. A TcpSender calls them for each predicted ACK, in the order of TcpSocketBase. If
 * the flow gets a socket, the socket continues with the same two objects.
 */
class Congestion
{
  public:
    /// Nothing. It can only be assigned to.
    Congestion() = default;

    /**
     * @param control a congestion control that is not in use
     * @param state the state of a connection that is not open
     */
    Congestion(ns3::Ptr<ns3::TcpCongestionOps> control, ns3::Ptr<ns3::TcpSocketState> state);

    /// @return true if this is nothing
    bool IsNothing() const
    {
        return !m_control;
    }

    /**
     * Begin.
     *
     * @param sender the state of the flow after the handshake
     */
    void Open(const SenderState& sender);

    /// @param sender the state that the state of the congestion control becomes
    void Load(const SenderState& sender);

    /// Learn that an ACK arrived as an ECN-capable packet without a mark.
    void NoteUnmarkedAck();

    /**
     * Change the congestion window as ns3::TcpSocketBase::ProcessAck does when nothing is wrong.
     *
     * @param sender the state of the flow; what was acknowledged is no longer in flight
     * @param segments number of segments that were acknowledged
     */
    void OpenWindow(SenderState& sender, uint32_t segments);

    /// @return the congestion control
    const ns3::Ptr<ns3::TcpCongestionOps>& GetControl() const
    {
        return m_control;
    }

    /// @return the state of the congestion control
    const ns3::Ptr<ns3::TcpSocketState>& GetState() const
    {
        return m_state;
    }

  private:
    ns3::Ptr<ns3::TcpCongestionOps> m_control;
    ns3::Ptr<ns3::TcpSocketState> m_state;
};

} // namespace cosim

#endif // COSIM_CONGESTION_H
