/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EXPRESS_DATAPATH_H
#define COSIM_EXPRESS_DATAPATH_H

#include "fabrics/express/busy-until-port.h"
#include "fabrics/express/express-flows.h"
#include "fabrics/express/express-links.h"
#include "fabrics/express/network-interfaces.h"
#include "fabrics/express/router.h"
#include "fabrics/packet/datapath.h"
#include "transport/endpoint.h"
#include "transport/switch-buffer.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cosim
{

/**
 * The fast datapath: packets cross links that are modelled by their busy-until time.
 *
 * It has no nodes, no devices and no IP layer. A transport creates the endpoints of flows, a Router
 * chooses the links of each packet, and a packet costs one event per link. A connection starts in
 * the state that a handshake leaves it in, and is created when it is first used.
 */
class ExpressDatapath : public Datapath, private ReplayableDatapath
{
  public:
    /**
     * @param setup what the datapath works with
     * @param client notified of what happens to flows and packets
     * @param transport creates the endpoints of flows
     * @param buffers the buffers of the nodes
     * @param makePort makes the ports: BusyUntilPorts, or PulledPorts if something holds packets up
     */
    ExpressDatapath(const DatapathSetup& setup,
                    DatapathClient& client,
                    std::unique_ptr<Transport> transport,
                    SwitchBuffers buffers,
                    PortMaker makePort = BusyUntilPort::Make);

    // Datapath
    void Open(const HandshakePlan& handshakes) override;
    void Submit(std::span<const Submission> submissions) override;
    void Abandon(FlowId flow) override;
    uint32_t GetWindow(FlowId flow) const override;
    double GetRateBps(FlowId flow) const override;
    PacketCounts GetSent() const override;
    LinkCounters GetLink(uint32_t link) const override;
    void AddStatistics(NetworkStatistics& statistics) const override;
    LinkControl* GetLinkControl() override;
    ReplayableDatapath* GetReplayable() override;

  private:
    // ReplayableDatapath
    std::unique_ptr<FlowTrail> BeginTrail(FlowId flow) override;
    PacketCounts CountPackets(FlowId flow, const FlowTrail& trail) override;
    bool EndTrail(FlowId flow, FlowTrail& trail) override;
    bool Fits(FlowId flow, const FlowTrail& trail) override;
    void Advance(FlowId flow, FlowTrail& trail, int64_t startPs) override;
    uint64_t TakeLongestQueue(uint32_t link) override;

    std::unique_ptr<Transport> m_transport;
    ExpressLinks m_links;
    ExpressFlows m_flows;
    std::unique_ptr<Router> m_router;
    std::optional<NetworkInterfaces> m_interfaces; //!< if the transport's senders are pulled
    const ReplayableTransport* m_replayable;       //!< part of m_transport, or null
};

} // namespace cosim

#endif // COSIM_EXPRESS_DATAPATH_H
