/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CIRCUIT_ROUTER_H
#define COSIM_CIRCUIT_ROUTER_H

#include "fabrics/express/express-flows.h"
#include "fabrics/express/express-links.h"
#include "fabrics/express/router.h"
#include "network/bundle-network.h"
#include "network/circuit-routes.h"
#include "network/link-control.h"
#include "network/network-api.h"
#include "transport/packet.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Changes the links of an ExpressDatapath, and forwards its packets over the current links.
 *
 * A packet travels from rank to rank. Each rank chooses the next link by the current state of the
 * links. During a pause, packets that are in transmission or on a link arrive, and packets that
 * reach their target are delivered. All other packets stay at their current rank, without a limit
 * on the buffer, and continue from there in the same order. A sender does not notice the pause: its
 * timers stop (see PausableSender), and its new data and its ACKs are held until the pause ends.
 *
 * Without forwarding, a flow without a direct link stays paused. Acknowledgments take a control
 * network next to the links, which has the latency and the rate of a circuit and no queue: all of
 * them if the settings say so, otherwise those that have no link.
 */
class CircuitRouter : public Router, private LinkControl
{
  public:
    /**
     * @param setup what the datapath works with, with reconfiguration
     * @param client knows what is not delivered
     * @param links the links; must outlive this object
     * @param flows the connections; must outlive this object
     */
    CircuitRouter(const DatapathSetup& setup,
                  DatapathClient& client,
                  ExpressLinks& links,
                  ExpressFlows& flows);

    // Router
    bool Hold(FlowId flow, uint64_t bytes) override;

    bool OpensAtOnce() const override
    {
        return true; // before the first circuits are measured
    }

    LinkControl* GetLinkControl() override
    {
        return this;
    }

    // PacketCarrier
    void Carry(Packet* packet) override;

    // Port::Receiver
    void OnLinkArrival(Packet* packet) override;

  private:
    /// Data and ACKs that a paused sender has not received yet.
    struct Sender
    {
        bool isPaused{false};
        uint64_t submitted{0};         //!< data [bytes]
        std::vector<Packet*> received; //!< ACKs
    };

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    void Resume() override;

    void MakeLinkIds();
    void UseControlNetwork(Packet* packet);
    void SendOn(Packet* packet, Rank node);
    uint32_t FindLink(Packet* packet, Rank node);
    void Deliver(Packet* packet);
    void ResumeFlow(FlowId flow);

    const Topology& m_topology;
    const LiveLinks& m_states;
    DatapathClient& m_client;
    ExpressLinks& m_links;
    ExpressFlows& m_flows;
    CircuitRoutes m_routes;
    std::deque<uint32_t> m_linkIds; //!< entry i is i; a packet's next path is a span of one entry
    std::vector<std::vector<Packet*>> m_held; //!< per rank: packets that wait there
    std::vector<Sender> m_senders;            //!< state of the sender of each flow
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_CIRCUIT_ROUTER_H
