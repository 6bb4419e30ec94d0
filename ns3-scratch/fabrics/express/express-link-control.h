/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_CONTROL_H
#define COSIM_EXPRESS_LINK_CONTROL_H

#include "fabrics/express/express-link.h"
#include "network/bundle-network.h"
#include "network/circuit-routes.h"
#include "network/link-control.h"
#include "transport/segment.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace cosim
{

class ExpressFabric;

/**
 * Changes the links of an ExpressFabric, and forwards its segments over the current links.
 *
 * A segment travels from rank to rank. Each rank chooses the next link by the current state of the
 * links. During a pause, packets that are in transmission or on a link arrive, and packets that
 * reach their target are delivered. All other segments stay at their current rank, without a limit
 * on the buffer, and continue from there in the same order. A sender does not notice the pause: its
 * timers stop (see FlowSender::Pause), and its new data and its ACKs are held until the pause ends.
 *
 * Without forwarding, a flow without a direct link stays paused. Acknowledgments take a control
 * network next to the links, which has the latency and the rate of a circuit and no queue: all of
 * them if the settings say so, otherwise those that have no link.
 */
class ExpressLinkControl : public LinkControl, public SegmentCarrier, public ExpressLink::Receiver
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

    // SegmentCarrier
    Segment* NewSegment() override;
    void Carry(Segment* segment) override;

    // ExpressLink::Receiver
    void OnLinkArrival(Segment* segment) override;

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
        uint64_t submitted{0};          //!< data [bytes]
        std::vector<Segment*> received; //!< ACKs
    };

    FlowId GetPathOf(const Segment& segment) const;
    void MakeLinkIds();
    void UseControlNetwork(Segment* segment);
    void SendOn(Segment* segment, Rank node);
    uint32_t FindLink(Segment* segment, Rank node);
    void Deliver(Segment* segment);
    void ResumeFlow(FlowId flow);

    const Topology& m_topology;
    ExpressFabric& m_fabric;
    CircuitRoutes m_routes;
    std::deque<uint32_t> m_linkIds; //!< entry i is i; a segment's next path is a span of one entry
    std::vector<std::vector<Segment*>> m_held; //!< per rank: segments that wait there
    std::vector<Sender> m_senders;             //!< state of the sender of each flow
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_CONTROL_H
