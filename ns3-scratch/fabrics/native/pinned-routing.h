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
 * Routes each (source, destination) pair of addresses along the path chosen for it at set-up.
 *
 * Stock routing protocols know one next hop for a destination; here two sources may take different
 * switches to the same host, as the paths of a topology say. A host has as many addresses as there
 * are paths between two hosts: each path has a pair of its own.
 */
class PinnedRouting : public ns3::Ipv4RoutingProtocol
{
  public:
    /// @return the TypeId
    static ns3::TypeId GetTypeId();

    /**
     * Make the node a host; without it, the node is a switch.
     *
     * @param local one of the node's own addresses
     */
    void AddLocal(ns3::Ipv4Address local);

    /**
     * @param delay what it takes the node to pass on a packet, if it is a host
     */
    void SetForwardingDelay(ns3::Time delay);

    /**
     * @param source the packets' source
     * @param destination the packets' destination
     * @param interface the interface of this node that they leave through
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
    std::unordered_set<uint32_t> m_local; //!< own addresses
    ns3::Time m_forwardingDelay;
    std::unordered_map<uint64_t, uint32_t> m_interfaces;      //!< by source and destination
    std::unordered_map<uint32_t, ns3::Ipv4Address> m_sources; //!< own address, by destination
};

} // namespace cosim

#endif // COSIM_PINNED_ROUTING_H
