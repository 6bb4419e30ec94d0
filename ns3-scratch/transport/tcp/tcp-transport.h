/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_TRANSPORT_H
#define COSIM_TCP_TRANSPORT_H

#include "stream/stream.h"
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
#include <span>
#include <vector>

namespace cosim
{

/// The transport protocol of the express fabric: ns-3's TCP with segments that are plain structs.
class TcpTransport : public Transport, private ReplayableTransport
{
  public:
    /**
     * @param settings all settings that connections have; they become ns-3's attribute defaults
     * one after the other
     * @param kinds per flow: its settings, as an index; empty: all flows have the first ones; must
     * outlive this object
     * @param clock the clock of all endpoints; must outlive this object
     * @throws std::invalid_argument if ns-3 has no such congestion control
     */
    TcpTransport(const std::vector<TcpSettings>& settings,
                 std::span<const uint32_t> kinds,
                 CausalSimulator& clock);

    /// @return true if flows with these settings can be taken along trails
    static bool CanReplay(const TcpSettings& settings)
    {
        return settings.congestionControl == "NewReno" && !settings.ecn && !settings.socketPerFlow;
    }

    // Transport
    uint32_t GetHandshakeBytes(FlowId flow) const override;
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
    /// What the ends of flows with the same settings share.
    class Kind final : public TcpSender::SocketMaker
    {
      public:
        /**
         * @param settings the settings
         * @param clock the clock; must outlive this object
         */
        Kind(const TcpSettings& settings, CausalSimulator& clock);

        /// See Transport::Attach; the endpoints take segments from the pool.
        void Attach(PacketCarrier& carrier, FlowObserver& observer, SegmentPool& segments);

        // TcpSender::SocketMaker
        ns3::Ptr<ExpressTcpSocket> TakeSocket() override;
        void ReturnSocket(const ns3::Ptr<ExpressTcpSocket>& socket) override;
        Congestion MakeCongestion() override;

      private:
        ns3::ObjectFactory m_congestionControl;
        /// copied for each socket, which costs less than setting attributes
        ns3::Ptr<ExpressTcpSocket> m_prototype;
        std::vector<ns3::Ptr<ExpressTcpSocket>> m_idleSockets;

      public:
        const uint32_t handshakeBytes; //!< size of a SYN [bytes on the wire]
        ExpressReceiver::Config receiver;
        TcpSender::Config sender;

        /// @return the state in which a handshake leaves a sender
        SenderState MakeStartState(const Handshake& handshake) const
        {
            return m_prototype->MakeStartState(handshake);
        }
    };

    const Kind& GetKind(FlowId flow) const
    {
        return m_kinds[m_kindOf.empty() ? 0 : m_kindOf[flow]];
    }

    // ReplayableTransport
    std::unique_ptr<FlowTrail> BeginTrail(const FlowEnds& ends) const override;

    SegmentPool m_segments;
    std::deque<Kind> m_kinds;
    const std::span<const uint32_t> m_kindOf;
    std::deque<TcpSender> m_senders;
    std::deque<ExpressReceiver> m_receivers;
};

} // namespace cosim

#endif // COSIM_TCP_TRANSPORT_H
