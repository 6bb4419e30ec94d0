/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_LINK_CONTROL_H
#define COSIM_EXPRESS_LINK_CONTROL_H

#include "fabrics/express/express-link.h"
#include "network/bundle-network.h"
#include "network/link-control.h"
#include "network/link-routes.h"
#include "transport/segment.h"

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace cosim
{

class ExpressFabric;

/**
 * Changes the links of an ExpressFabric, and forwards its segments over them.
 *
 * A segment is sent from rank to rank: each rank decides by the links as they are now on which one
 * it continues. While flows pause, what is being sent or is under way arrives, and what arrives at
 * its target is delivered. All other segments are held at the rank where they are, whatever its
 * buffers hold, and continue from there in the same order. A sender notices nothing of a pause: its
 * timers stand still (see FlowSender::Pause), and what it is to send or is acknowledged waits.
 *
 * Without forwarding, a flow without a direct link stays paused. If there is no link for its
 * acknowledgements, they take a control network beside the links: with the latency and the rate of
 * a circuit, and no queue.
 */
class ExpressLinkControl : public LinkControl, public SegmentCarrier, public ExpressLink::Receiver
{
  public:
    /**
     * @param topology of the start, with reconfiguration; outlives this object
     * @param fabric the fabric; outlives this object
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
     * Bytes are to be appended to a flow's stream.
     *
     * @param flow the flow
     * @param bytes how many
     * @return whether they wait here until the flow resumes
     */
    bool Hold(FlowId flow, uint64_t bytes);

  private:
    /// What a flow's sender does not know yet, as it is paused.
    struct Sender
    {
        bool isPaused{false};
        uint64_t submitted{0};          //!< [bytes]
        std::vector<Segment*> received; //!< ACKs
    };

    FlowId GetPathOf(const Segment& segment) const;
    void MakeLinkIds();
    void SendOn(Segment* segment, Rank node);
    uint32_t FindLink(Segment* segment, Rank node);
    void Deliver(Segment* segment);
    void ResumeFlow(FlowId flow);

    const Topology& m_topology;
    ExpressFabric& m_fabric;
    LinkRoutes m_routes;
    std::deque<uint32_t> m_linkIds;            //!< each its own index: a path of one link
    std::vector<std::vector<Segment*>> m_held; //!< per rank
    std::vector<Sender> m_senders;             //!< per flow
    bool m_isPaused{false};
};

} // namespace cosim

#endif // COSIM_EXPRESS_LINK_CONTROL_H
