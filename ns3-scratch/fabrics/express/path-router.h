/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_ROUTER_H
#define COSIM_PATH_ROUTER_H

#include "fabrics/express/express-flows.h"
#include "fabrics/express/express-links.h"
#include "fabrics/express/router.h"

#include <cstdint>

namespace cosim
{

/// Sends each packet along the path of its flow, from its first link to its last.
class PathRouter : public Router
{
  public:
    /**
     * @param setup what the datapath works with
     * @param links the links; must outlive this object
     * @param flows the connections; must outlive this object
     */
    PathRouter(const DatapathSetup& setup, ExpressLinks& links, ExpressFlows& flows);

    // Router
    void Route(Packet& packet) override;

    // PacketCarrier
    void Carry(Packet* packet) override;

    // Port::Receiver
    void OnLinkArrival(Packet* packet) override;

  protected:
    /// Send a packet that has crossed a link over the next link of its path, or deliver it.
    void Forward(Packet* packet);

    const Topology& m_topology;
    const LiveLinks& m_states;
    ExpressLinks& m_links;
    ExpressFlows& m_flows;
};

} // namespace cosim

#endif // COSIM_PATH_ROUTER_H
