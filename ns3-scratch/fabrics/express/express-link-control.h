/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_CONTROL_H
#define COSIM_EXPRESS_LINK_CONTROL_H

#include "fabrics/express/express-link.h"
#include "network/bundle-network.h"
#include "network/circuit-routes.h"
#include "network/link-control.h"
#include "transport/packet.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace cosim
{

class ExpressFabric;

/**
 * Changes the links of an ExpressFabric, and forwards its packets over the current links.
 *
 * A packet travels from rank to rank. Each rank chooses the next link by the current state of the
 * links. During a pause, packets that are in transmission or on a link arrive, and packets that
 * reach their target are delivered. All other packets stay at their current rank, without a limit
 * on the buffer, and continue from there in the same order. A sender does not notice the pause: its
 * timers stop (see FlowSender::Pause), and its new data and its ACKs are held until the pause ends.
 *
 * Without forwarding, a flow without a direct link stays paused. Acknowledgments take a control
 * network next to the links, which has the latency and the rate of a circuit and no queue: all of
 * them if the settings say so, otherwise those that have no link.
 */
class ExpressLinkControl : public LinkControl, public PacketCarrier, public ExpressLink::Receiver
{
  public:
    /**
     * @param topology links and paths at the start of the run, with reconfiguration; must outlive
     * this object
     * @param fabric the fabric; must outlive this object
     */
    ExpressLinkControl(const Topology& topology, ExpressFabric& fabric);

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    void Resume() override;

    // PacketCarrier
    void Carry(Packet* packet) override;

    // ExpressLink::Receiver
    void OnLinkArrival(Packet* packet) override;

    /**
     * Hold data that is to be appended to the stream of a flow, if the flow is paused.
     *
     * @param flow id of the flow
     * @param bytes number of bytes
     * @return true if the data is held here until the flow resumes
     */
    bool Hold(FlowId flow, uint64_t bytes);

  private:
    /// Data and ACKs that a paused sender has not received yet.
    struct Sender
    {
        bool isPaused{false};
        uint64_t submitted{0};         //!< data [bytes]
        std::vector<Packet*> received; //!< ACKs
    };

    FlowId GetPathOf(const Packet& packet) const;
    void MakeLinkIds();
    void UseControlNetwork(Packet* packet);
    void SendOn(Packet* packet, Rank node);
    uint32_t FindLink(Packet* packet, Rank node);
    void Deliver(Packet* packet);
    void ResumeFlow(FlowId flow);

    const Topology& m_topology;
    ExpressFabric& m_fabric;
    CircuitRoutes m_routes;
    std::deque<uint32_t> m_linkIds; //!< entry i is i; a packet's next path is a span of one entry
    std::vector<std::vector<Packet*>> m_held; //!< per rank: packets that wait there
    std::vector<Sender> m_senders;            //!< state of the sender of each flow
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_CONTROL_H
