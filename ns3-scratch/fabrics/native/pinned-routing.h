/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PINNED_ROUTING_H
#define COSIM_PINNED_ROUTING_H

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>

namespace cosim
{

/**
 * Routes each pair of a source and a destination address along a path that is set at set-up time.
 *
 * The routing protocols of ns-3 know only one next hop per destination. In a topology, two sources
 * can reach the same host through different switches. If a pair of hosts has several paths, each
 * host has as many addresses, and each path uses its own pair of addresses.
 */
class PinnedRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    /**
     * Make the node a host. A node without a local address is a switch.
     *
     * @param local an address of the node
     */
    void AddLocal(ns3::Ipv4Address local);

    /**
     * @param delay forwarding delay of the node, if it is a host
     */
    void SetForwardingDelay(ns3::Time delay);

    /**
     * Set the interface on which packets leave this node.
     *
     * @param source source address of the packets
     * @param destination destination address of the packets
     * @param interface index of the interface at this node
     */
    void AddPath(ns3::Ipv4Address source, ns3::Ipv4Address destination, uint32_t interface);

    // Ipv4RoutingProtocol
    ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet,
                                         const ns3::Ipv4Header& header,
                                         ns3::Ptr<ns3::NetDevice> oif,
                                         ns3::Socket::SocketErrno& error) override;
    bool RouteInput(ns3::Ptr<const ns3::Packet> packet,
                    const ns3::Ipv4Header& header,
                    ns3::Ptr<const ns3::NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback& multicast,
                    const LocalDeliverCallback& deliver,
                    const ErrorCallback& error) override;
    void NotifyInterfaceUp(uint32_t interface) override;
    void NotifyInterfaceDown(uint32_t interface) override;
    void NotifyAddAddress(uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void NotifyRemoveAddress(uint32_t interface, ns3::Ipv4InterfaceAddress address) override;
    void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override;
    void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream,
                           ns3::Time::Unit unit) const override;

  protected:
    void DoDispose() override;

  private:
    ns3::Ptr<ns3::Ipv4Route> Find(ns3::Ipv4Address source, ns3::Ipv4Address destination) const;

    ns3::Ptr<ns3::Ipv4> m_ipv4;
    std::unordered_set<uint32_t> m_local; //!< addresses of the node
    ns3::Time m_forwardingDelay;
    std::unordered_map<uint64_t, uint32_t> m_interfaces;      //!< keyed by source and destination
    std::unordered_map<uint32_t, ns3::Ipv4Address> m_sources; //!< own address for each destination
};

} // namespace cosim

#endif // COSIM_PINNED_ROUTING_H
