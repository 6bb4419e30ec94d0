/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NATIVE_FABRIC_H
#define COSIM_NATIVE_FABRIC_H

#include "fabrics/native/native-tcp-socket.h"
#include "fabrics/packet/packet-fabric.h"
#include "transport/queue-policy.h"

#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-net-device.h"

#include <memory>
#include <vector>

namespace cosim
{

/**
 * The reference datapath: stock PointToPointNetDevice, Ipv4, DropTailQueue and TcpSocketBase, with
 * the topology's paths pinned by PinnedRouting.
 *
 * Every connection is opened by a real three-way handshake before the clock starts, one after the
 * other, so that each measures the round trip of the empty network. It is several times slower than
 * ExpressFabric, and has what ns-3's own tools attach to: nodes, devices, queues, pcap.
 */
class NativeFabric : public PacketFabric
{
  public:
    /**
     * @param topology links and paths; outlives the fabric
     * @param settings the settings; outlive the fabric
     * @param policies make the policies of the devices' queues
     */
    NativeFabric(const Topology& topology,
                 const Settings& settings,
                 std::unique_ptr<QueuePolicyMaker> policies);
    ~NativeFabric() override;

  protected:
    void Build() override;
    void Submit(FlowId flow, uint64_t bytes) override;
    LinkCounters GetLinkCounters(uint32_t link) const override;

  private:
    class LinkMonitor;

    /// A flow's two sockets.
    struct Connection
    {
        ns3::Ptr<NativeTcpSocket> sender;
        ns3::Ptr<NativeTcpSocket> receiver;
    };

    uint32_t CountRoutes() const;
    ns3::Ipv4Address AddressOf(Rank rank, uint32_t route) const;
    void BuildNodes();
    void BuildLinks();
    void BuildLink(uint32_t link, uint32_t back);
    uint32_t AddDevice(uint32_t node, uint32_t link, ns3::Ptr<ns3::PointToPointChannel> channel);
    void PinPaths();
    void Listen();
    void OpenConnections();
    void Open(FlowId flow);
    void OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    ns3::Ptr<NativeTcpSocket> MakeSocket(Rank rank);

    std::unique_ptr<QueuePolicyMaker> m_policies;
    uint32_t m_routes; //!< the greatest number of paths between two ranks
    ns3::ObjectFactory m_congestionControl;
    ns3::NodeContainer m_nodes;
    std::vector<uint32_t> m_interfaceOfLink;              //!< at the link's source
    std::vector<std::unique_ptr<LinkMonitor>> m_monitors; //!< by link
    std::vector<ns3::Ptr<NativeTcpSocket>> m_listeners;   //!< by rank
    std::vector<Connection> m_connections;                //!< by flow
};

} // namespace cosim

#endif // COSIM_NATIVE_FABRIC_H
