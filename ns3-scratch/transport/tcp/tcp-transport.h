/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_TRANSPORT_H
#define COSIM_TCP_TRANSPORT_H

#include "transport/endpoint.h"
#include "transport/flow-trail.h"
#include "transport/tcp/express-receiver.h"
#include "transport/tcp/express-tcp-socket.h"
#include "transport/tcp/tcp-sender.h"

#include "ns3/object-factory.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace cosim
{

/// The transport protocol of the express fabric: ns-3's TCP with segments that are plain structs.
class TcpTransport : public Transport, private ReplayableTransport, private TcpSender::SocketMaker
{
  public:
    /**
     * @param settings become ns-3's attribute defaults; must outlive this object
     * @param clock the clock of all endpoints; must outlive this object
     * @throws std::invalid_argument if ns-3 has no such congestion control
     */
    TcpTransport(const TcpSettings& settings, CausalSimulator& clock);

    /// @return true if flows with these settings can be taken along trails
    static bool CanReplay(const TcpSettings& settings)
    {
        return settings.congestionControl == "NewReno" && !settings.ecn && !settings.socketPerFlow;
    }

    // Transport
    uint32_t GetHandshakeBytes() const override;
    void Attach(PacketCarrier& carrier, FlowObserver& observer) override;
    FlowEnds Connect(FlowId flow, const Handshake& handshake) override;
    void Release(Packet* packet) override;
    PacketCounts GetSent() const override;

    bool CanPause() const override
    {
        return true;
    }

    const ReplayableTransport* GetReplayable() const override
    {
        return this;
    }

  private:
    // ReplayableTransport
    std::unique_ptr<FlowTrail> BeginTrail(const FlowEnds& ends) const override;

    // TcpSender::SocketMaker
    ns3::Ptr<ExpressTcpSocket> TakeSocket() override;
    void ReturnSocket(const ns3::Ptr<ExpressTcpSocket>& socket) override;
    Congestion MakeCongestion() override;

    const TcpSettings& m_settings;
    SegmentPool m_segments;
    ExpressReceiver::Config m_receiverConfig;
    ns3::ObjectFactory m_congestionControl;
    /// copied for each socket, which costs less than setting attributes
    ns3::Ptr<ExpressTcpSocket> m_prototype;
    std::vector<ns3::Ptr<ExpressTcpSocket>> m_idleSockets;
    TcpSender::Config m_senderConfig;
    std::deque<TcpSender> m_senders;
    std::deque<ExpressReceiver> m_receivers;
};

} // namespace cosim

#endif // COSIM_TCP_TRANSPORT_H
