/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NATIVE_DATAPATH_H
#define COSIM_NATIVE_DATAPATH_H

#include "fabrics/native/native-tcp-socket.h"
#include "fabrics/packet/datapath.h"
#include "network/network-api.h"
#include "transport/switch-buffer.h"

#include "ns3/ipv4-address.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-net-device.h"

#include <memory>
#include <vector>

namespace cosim
{

/**
 * The reference datapath. It uses ns-3's own PointToPointNetDevice, Ipv4, DropTailQueue and
 * TcpSocketBase; PinnedRouting routes packets along the paths of the topology.
 *
 * A three-way handshake opens every connection before the clock starts, one after another, so that
 * each of them measures the round trip of an empty network. This is several times slower than
 * ExpressDatapath, but ns-3's tools can attach to its nodes, devices, queues and pcap files.
 */
class NativeDatapath : public Datapath
{
  public:
    /**
     * @param setup what the datapath works with
     * @param client notified of what happens to flows and packets
     * @param buffers the buffers of the nodes
     * @throws std::invalid_argument if the link header is smaller than that of ns-3's device
     */
    NativeDatapath(const DatapathSetup& setup, DatapathClient& client, SwitchBuffers buffers);
    ~NativeDatapath() override;

    // Datapath
    void Open(const HandshakePlan& handshakes) override;
    void Submit(std::span<const Submission> submissions) override;
    uint32_t GetWindow(FlowId flow) const override;
    PacketCounts GetSent() const override;
    LinkCounters GetLink(uint32_t link) const override;

  private:
    class LinkMonitor;

    /// The two sockets of a flow.
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
    void Connect(FlowId flow);
    void OnAccept(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
    ns3::Ptr<NativeTcpSocket> MakeSocket(Rank rank, uint32_t transport);

    const Topology& m_topology;
    const Settings& m_settings;
    const TcpSettings& m_tcp; //!< what all connections have in common
    const PathIndex& m_paths;
    const LiveLinks& m_links;
    DatapathClient& m_client;
    const HandshakePlan* m_handshakes{nullptr}; //!< not owned; null before Open
    SwitchBuffers m_buffers;
    uint32_t m_routes;               //!< largest number of paths between two ranks
    uint32_t m_defaults{UINT32_MAX}; //!< the transport whose settings are ns-3's defaults
    ns3::NodeContainer m_nodes;
    std::vector<uint32_t> m_interfaceOfLink; //!< per link: interface at the source of the link
    std::vector<std::unique_ptr<LinkMonitor>> m_monitors; //!< indexed by link
    std::vector<ns3::Ptr<NativeTcpSocket>> m_listeners;   //!< for each transport, of each rank
    std::vector<Connection> m_connections;                //!< indexed by flow
};

} // namespace cosim

#endif // COSIM_NATIVE_DATAPATH_H
