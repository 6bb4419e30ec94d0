/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_FABRIC_H
#define COSIM_EXPRESS_FABRIC_H

#include "fabrics/express/express-detours.h"
#include "fabrics/express/express-link-control.h"
#include "fabrics/express/express-link.h"
#include "fabrics/packet/packet-fabric.h"
#include "transport/endpoint.h"
#include "transport/packet.h"
#include "transport/queue-policy.h"

#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The fast packet-level fabric: packets cross links that are modelled by their busy-until time.
 *
 * The fabric delivers packets directly to the endpoints of flows, which a transport creates.
 *
 * It has no nodes, no devices and no IP layer. A path is an array of links, and a packet costs one
 * event per link. A connection starts in the state that a handshake leaves it in, and is created
 * when it is first used.
 */
class ExpressFabric : public PacketFabric,
                      public Repeatable,
                      private PacketCarrier,
                      private ExpressLink::Receiver
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; must outlive the fabric
     * @param transport creates the endpoints of flows
     * @param policies creates the policies of the links' egress queues
     */
    ExpressFabric(const Topology& topology,
                  const Settings& settings,
                  std::unique_ptr<Transport> transport,
                  std::unique_ptr<QueuePolicyMaker> policies);
    ~ExpressFabric() override;

    // Fabric
    LinkControl* GetLinkControl() override;
    NetworkStatistics GetStatistics() const override;
    Repeatable* GetRepeatable() override;
    bool IsAtRest() const override;

    // Repeatable
    std::string GetObstacle() const override;
    int64_t AddState(StateDigest& digest) const override;
    void LogRoundTrips() override;
    void ForgetRoundTrips(const NetworkCounters& oldest) override;
    NetworkCounters GetCounters() const override;
    uint64_t LimitRepeats(const NetworkCounters& from, uint64_t times) const override;
    void Repeat(const NetworkCounters& from, uint64_t times, uint64_t periodPs) override;

  protected:
    void Build() override;
    void Submit(FlowId flow, uint64_t bytes) override;
    uint32_t GetWindow(FlowId flow) const override;
    LinkCounters GetLink(uint32_t link) const override;

  private:
    friend class ExpressDetours;
    friend class ExpressLinkControl;

    /// A connection. Its endpoints are null until it is first used.
    struct Connection
    {
        FlowEnds ends;
        FlowId reverse{0};
    };

    // PacketCarrier
    void Carry(Packet* packet) override;

    // ExpressLink::Receiver
    void OnLinkArrival(Packet* packet) override;

    /// Set a link to its state in m_liveLinks. The link may be a new one, with the next id.
    void SetLink(uint32_t link);

    /// @return the table of serialization delays of links with this rate [bit/s]
    TransmissionTimes& GetTimes(uint64_t rateBps);

    /// Append bytes to the stream of a flow that is not paused.
    void Send(FlowId flow, uint64_t bytes);

    /// Send a packet that has crossed a link over the next link of its path, or deliver it.
    void Forward(Packet* packet);

    /// Put a packet into the egress queue of a link, or drop it.
    void Enter(uint32_t link, Packet* packet);

    /// Deliver a packet at the other endpoint of its flow.
    void Reach(Packet* packet)
    {
        const FlowEnds& ends = m_connections[packet->flow].ends;
        if (packet->toSender)
        {
            ends.sender->Receive(*packet);
        }
        else
        {
            ends.receiver->Receive(*packet);
        }
        m_transport->Release(packet);
    }

    Handshake GetHandshake(FlowId flow) const;

    std::unique_ptr<Transport> m_transport;
    std::unique_ptr<QueuePolicyMaker> m_policies;
    std::vector<std::unique_ptr<ExpressLink>> m_links;
    std::vector<Connection> m_connections;
    uint64_t m_refusals{0};                            //!< packets dropped at links that were down
    std::map<uint64_t, TransmissionTimes> m_times;     //!< keyed by rate
    std::unique_ptr<ExpressLinkControl> m_linkControl; //!< null without circuits
    std::unique_ptr<ExpressDetours> m_detours; //!< null if links never fail, and flows keep paths
    ExpressLink::Receiver* m_receiver{this};   //!< used by the links
};

} // namespace cosim

#endif // COSIM_EXPRESS_FABRIC_H
