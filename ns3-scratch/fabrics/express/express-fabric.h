/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_FABRIC_H
#define COSIM_EXPRESS_FABRIC_H

#include "fabrics/express/express-link.h"
#include "fabrics/packet/packet-fabric.h"
#include "transport/segment.h"
#include "transport/tcp/express-receiver.h"
#include "transport/tcp/express-tcp-socket.h"

#include "ns3/object-factory.h"

#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The fast datapath: ns-3's TCP over busy-until links, sockets delivered to directly.
 *
 * There are no nodes, devices or IP: a path is an array of links, and a segment costs one event a
 * link. Connections exist as the handshake leaves them, and are made when first used.
 */
class ExpressFabric : public PacketFabric, private SegmentCarrier, private ExpressLink::Receiver
{
  public:
    /**
     * @param topology links and paths; outlives the fabric
     * @param settings the settings; outlive the fabric
     */
    ExpressFabric(const Topology& topology, const Settings& settings);
    ~ExpressFabric() override;

  protected:
    /// A connection; null ends: not used yet.
    struct Connection
    {
        ns3::Ptr<ExpressTcpSocket> sender;
        std::unique_ptr<ExpressReceiver> receiver;
        FlowId reverse{0};
    };

    void Build() override;
    void Submit(FlowId flow, uint64_t bytes) override;
    LinkCounters GetLinkCounters(uint32_t link) const override;

    // SegmentCarrier
    Segment* NewSegment() override;
    void Carry(Segment* segment) override;

    // ExpressLink::Receiver
    void OnLinkArrival(Segment* segment) override;

    /// @return a link's parameters, as the topology has them now
    ExpressLink::Parameters GetParameters(uint32_t link) const;

    /// @return the serialization delays of links of this rate [bit/s]
    std::shared_ptr<TransmissionTimes> GetTimes(uint64_t rateBps);

    /// Make the next link that the topology has.
    void MakeLink();

    /// A packet enters a link's queue, or is dropped.
    void Enter(uint32_t link, Segment* segment);

    /// A segment is at its flow's other end.
    void Reach(Segment* segment)
    {
        const Connection& connection = m_connections[segment->flow];
        if (segment->toSender)
        {
            connection.sender->Receive(*segment);
        }
        else
        {
            connection.receiver->Receive(*segment);
        }
        m_segments.Return(segment);
    }

    std::vector<std::unique_ptr<ExpressLink>> m_links;
    std::vector<Connection> m_connections;

  private:
    void Connect(FlowId flow);
    ns3::Time GetHandshakeRtt(FlowId flow) const;

    ExpressReceiver::Config m_receiverConfig;
    ns3::Ptr<ExpressTcpSocket> m_prototype; //!< copied for each flow: cheaper than attributes
    ns3::ObjectFactory m_congestionControl;
    SegmentPool m_segments;
    std::map<uint64_t, std::shared_ptr<TransmissionTimes>> m_times; //!< by rate
};

/// @return an ExpressFabric
std::unique_ptr<Fabric> MakeExpressFabric(const Topology& topology, const Settings& settings);

} // namespace cosim

#endif // COSIM_EXPRESS_FABRIC_H
