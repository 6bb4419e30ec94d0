/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_FABRIC_H
#define COSIM_EXPRESS_FABRIC_H

#include "fabrics/express/express-link-control.h"
#include "fabrics/express/express-link.h"
#include "fabrics/packet/packet-fabric.h"
#include "transport/endpoint.h"
#include "transport/queue-policy.h"
#include "transport/segment.h"

#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The fast datapath: packets over busy-until links, between the ends of flows that a transport
 * makes, delivered to them directly.
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
     * @param transport makes the ends of flows
     * @param policies make the policies of the links' egress queues
     * @param linksChange whether the topology's links change during the run
     */
    ExpressFabric(const Topology& topology,
                  const Settings& settings,
                  std::unique_ptr<Transport> transport,
                  std::unique_ptr<QueuePolicyMaker> policies,
                  bool linksChange);
    ~ExpressFabric() override;

    // Fabric
    LinkControl* GetLinkControl() override;

  protected:
    void Build() override;
    void Submit(FlowId flow, uint64_t bytes) override;
    LinkCounters GetLinkCounters(uint32_t link) const override;

  private:
    friend class ExpressLinkControl;

    /// A connection; null ends: not used yet.
    struct Connection
    {
        FlowEnds ends;
        FlowId reverse{0};
    };

    // SegmentCarrier
    Segment* NewSegment() override;
    void Carry(Segment* segment) override;

    // ExpressLink::Receiver
    void OnLinkArrival(Segment* segment) override;

    /// Let a link follow m_liveLinks; it may be the next new one.
    void SetLink(uint32_t link);

    /// @return the serialization delays of links of this rate [bit/s]
    std::shared_ptr<TransmissionTimes> GetTimes(uint64_t rateBps);

    /// Append bytes to the stream of a flow that is not paused.
    void Send(FlowId flow, uint64_t bytes);

    /// A packet enters a link's queue, or is dropped.
    void Enter(uint32_t link, Segment* segment);

    /// A segment is at its flow's other end.
    void Reach(Segment* segment)
    {
        const FlowEnds& ends = m_connections[segment->flow].ends;
        if (segment->toSender)
        {
            ends.sender->Receive(*segment);
        }
        else
        {
            ends.receiver->Receive(*segment);
        }
        m_segments.Return(segment);
    }

    ns3::Time GetHandshakeRtt(FlowId flow) const;

    std::unique_ptr<Transport> m_transport;
    std::unique_ptr<QueuePolicyMaker> m_policies;
    std::vector<std::unique_ptr<ExpressLink>> m_links;
    std::vector<Connection> m_connections;
    SegmentPool m_segments;
    std::map<uint64_t, std::shared_ptr<TransmissionTimes>> m_times; //!< by rate
    std::unique_ptr<ExpressLinkControl> m_linkControl; //!< null: the links do not change
    SegmentCarrier& m_carrier;         //!< of the flows' ends: this or m_linkControl
    ExpressLink::Receiver& m_receiver; //!< of the links: this or m_linkControl
};

} // namespace cosim

#endif // COSIM_EXPRESS_FABRIC_H
