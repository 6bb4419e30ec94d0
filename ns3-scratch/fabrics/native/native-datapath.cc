/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/native-datapath.h"

#include "clock/simulator-session.h"
#include "fabrics/native/device-queue.h"
#include "fabrics/native/pinned-routing.h"
#include "transport/tcp/tcp-defaults.h"

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/mac48-address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

constexpr uint32_t FIRST_PORT = 5000; //!< of the first transport; the others have the next ones
constexpr uint32_t FIRST_ADDRESS = 0x0a000001; //!< address of rank 0: 10.0.0.1
constexpr uint32_t PPP_HEADER_BYTES = 2;       //!< what PointToPointNetDevice adds to a packet

/// @return the port at which connections with the settings of a transport are accepted
uint16_t
PortOf(uint32_t transport)
{
    return static_cast<uint16_t>(FIRST_PORT + transport);
}

/// Installs a PinnedRouting on each node.
class PinnedRoutingHelper : public Ipv4RoutingHelper
{
  public:
    PinnedRoutingHelper* Copy() const override
    {
        // the caller takes ownership, as Ipv4RoutingHelper requires
        return new PinnedRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node> /* node */) const override
    {
        return CreateObject<PinnedRouting>();
    }
};

} // namespace

/// Counts the packets that a device sends and drops.
class NativeDatapath::LinkMonitor
{
  public:
    /**
     * @param client notified of drops
     * @param link the link
     * @param device the device at the source of the link
     * @param rate rate of the link
     */
    LinkMonitor(DatapathClient& client,
                uint32_t link,
                const Ptr<PointToPointNetDevice>& device,
                DataRate rate)
        : m_client(client),
          m_link(link),
          m_rate(rate),
          m_queue(DynamicCast<DeviceQueue>(device->GetQueue()))
    {
        device->TraceConnectWithoutContext("PhyTxBegin",
                                           MakeCallback(&LinkMonitor::OnTransmit, this));
        device->TraceConnectWithoutContext("MacTxDrop", MakeCallback(&LinkMonitor::OnDrop, this));
        if (m_queue->IsGuarded())
        {
            m_queue->TraceConnectWithoutContext("BytesInQueue",
                                                MakeCallback(&LinkMonitor::OnQueue, this));
        }
        else
        {
            m_queue->TraceConnectWithoutContext("Enqueue",
                                                MakeCallback(&LinkMonitor::OnEnqueue, this));
        }
    }

    /// Reset the counters, to exclude the handshakes.
    void Reset()
    {
        m_counters = {};
    }

    /// @return the counters; the busy time counts up to now
    LinkCounters GetCounters() const
    {
        LinkCounters counters = m_counters;
        const int64_t left = m_busyUntilPs - Simulator::Now().GetTimeStep();
        if (left > 0)
        { // a packet is in transmission
            counters.busyPs -= left;
            counters.wireBytes -= m_lastBytes;
        }
        counters.marks = m_queue->GetMarks();
        counters.queuedBytes = m_queue->GetNBytes();
        return counters;
    }

  private:
    void OnTransmit(Ptr<const Packet> packet)
    {
        m_lastBytes = packet->GetSize();
        m_counters.wireBytes += m_lastBytes;
        const int64_t duration = m_rate.CalculateBytesTxTime(m_lastBytes).GetTimeStep();
        m_counters.busyPs += duration;
        m_busyUntilPs = Simulator::Now().GetTimeStep() + duration;
    }

    void OnDrop(Ptr<const Packet> packet)
    {
        ++m_counters.drops;
        m_client.OnDropped(m_link, packet->GetSize());
    }

    void OnQueue(uint32_t /* before */, uint32_t bytes)
    {
        m_counters.maxQueueBytes = std::max<uint64_t>(m_counters.maxQueueBytes, bytes);
    }

    void OnEnqueue(Ptr<const Packet> packet)
    {
        const int64_t now = Simulator::Now().GetTimeStep();
        const int64_t duration = m_rate.CalculateBytesTxTime(packet->GetSize()).GetTimeStep();
        m_emptyAtPs = std::max(m_emptyAtPs, now) + duration;
        m_counters.maxQueueBytes = std::max(m_counters.maxQueueBytes,
                                            GetBytesWithin(m_emptyAtPs - now, m_rate.GetBitRate()));
    }

    DatapathClient& m_client;
    uint32_t m_link;
    DataRate m_rate;
    Ptr<DeviceQueue> m_queue;
    int64_t m_busyUntilPs{0};
    int64_t m_emptyAtPs{0};  //!< when all packets so far are sent
    uint32_t m_lastBytes{0}; //!< size of the packet that was sent last
    LinkCounters m_counters;
};

NativeDatapath::NativeDatapath(const DatapathSetup& setup,
                               DatapathClient& client,
                               SwitchBuffers buffers)
    : m_topology(setup.topology),
      m_settings(setup.settings),
      m_tcp(setup.settings.tcp),
      m_paths(setup.paths),
      m_links(setup.links),
      m_client(client),
      m_buffers(std::move(buffers)),
      m_routes(CountRoutes()),
      m_interfaceOfLink(m_topology.linkSource.size()),
      m_monitors(m_topology.linkSource.size()),
      m_connections(m_topology.pathSource.size())
{
    if (m_tcp.linkHeaderBytes < PPP_HEADER_BYTES)
    {
        throw std::invalid_argument(
            "settings: tcp.link_header_bytes is " + std::to_string(m_tcp.linkHeaderBytes) +
            ", but ns-3's PointToPointNetDevice, which the fabric native uses, adds " +
            std::to_string(PPP_HEADER_BYTES) + " bytes to each packet");
    }
}

NativeDatapath::~NativeDatapath() = default;

uint32_t
NativeDatapath::CountRoutes() const
{
    uint32_t routes = 1;
    for (FlowId flow = 0; flow < m_topology.pathSource.size(); ++flow)
    {
        routes = std::max(routes, m_paths.GetRoute(flow) + 1);
    }
    return routes;
}

Ipv4Address
NativeDatapath::AddressOf(Rank rank, uint32_t route) const
{
    return Ipv4Address(FIRST_ADDRESS + rank * m_routes + route);
}

void
NativeDatapath::Open(const HandshakePlan& handshakes)
{
    m_handshakes = &handshakes;
    BuildNodes();
    BuildLinks();
    PinPaths();
    Listen();
    OpenConnections();
}

void
NativeDatapath::BuildNodes()
{
    m_nodes.Create(m_topology.nodes);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(PinnedRoutingHelper());
    stack.Install(m_nodes);
    for (Rank rank = 0; rank < m_topology.GetEndpoints(); ++rank)
    {
        auto routing =
            DynamicCast<PinnedRouting>(m_nodes.Get(rank)->GetObject<Ipv4>()->GetRoutingProtocol());
        routing->SetForwardingDelay(
            TimeStep(m_topology.IsRank(rank) ? m_topology.forwardingDelayPs : 0));
        for (uint32_t route = 0; route < m_routes; ++route)
        {
            routing->AddLocal(AddressOf(rank, route));
        }
    }
}

void
NativeDatapath::BuildLinks()
{
    // A channel has two directions, so pair each link with a link in the opposite direction.
    std::multimap<std::pair<uint32_t, uint32_t>, uint32_t> unpaired;
    for (uint32_t link = 0; link < m_topology.linkSource.size(); ++link)
    {
        const uint32_t source = m_topology.linkSource[link];
        const uint32_t target = m_topology.linkTarget[link];
        const auto back = unpaired.lower_bound({target, source});
        if (back != unpaired.end() && back->first == std::pair(target, source) &&
            m_topology.linkLatencyPs[back->second] == m_topology.linkLatencyPs[link])
        {
            BuildLink(back->second, link);
            unpaired.erase(back);
        }
        else
        {
            unpaired.emplace(std::pair(source, target), link);
        }
    }
    for (const auto& [ends, link] : unpaired)
    { // without an opposite link, the device at the other end never sends
        BuildLink(link, link);
    }
}

void
NativeDatapath::BuildLink(uint32_t link, uint32_t back)
{
    auto channel = CreateObject<PointToPointChannel>();
    channel->SetAttribute("Delay", TimeValue(TimeStep(m_topology.linkLatencyPs[link])));
    m_interfaceOfLink[link] = AddDevice(m_topology.linkSource[link], link, channel);
    const uint32_t interface = AddDevice(m_topology.linkTarget[link], back, channel);
    if (back != link)
    {
        m_interfaceOfLink[back] = interface;
    }
}

uint32_t
NativeDatapath::AddDevice(uint32_t node, uint32_t link, Ptr<PointToPointChannel> channel)
{
    const DataRate rate(m_topology.linkRateBps[link]);
    auto queue = CreateObject<DeviceQueue>();
    queue->SetBuffer(*m_buffers[node], m_links.Get(link));
    queue->SetPaddingBytes(m_tcp.linkHeaderBytes - PPP_HEADER_BYTES);
    auto device = CreateObject<PointToPointNetDevice>();
    device->SetAddress(Mac48Address::Allocate());
    device->SetDataRate(rate);
    device->SetMtu(static_cast<uint16_t>(m_tcp.mtuBytes));
    device->SetQueue(queue);
    m_nodes.Get(node)->AddDevice(device);
    device->Attach(channel);
    if (node == m_topology.linkSource[link])
    {
        m_monitors[link] = std::make_unique<LinkMonitor>(m_client, link, device, rate);
    }
    Ptr<Ipv4> ipv4 = m_nodes.Get(node)->GetObject<Ipv4>();
    const uint32_t interface = ipv4->AddInterface(device);
    if (node < m_topology.GetEndpoints())
    {
        for (uint32_t route = 0; route < m_routes; ++route)
        {
            ipv4->AddAddress(interface,
                             Ipv4InterfaceAddress(AddressOf(node, route), Ipv4Mask::GetOnes()));
        }
    }
    ipv4->SetUp(interface);
    return interface;
}

void
NativeDatapath::PinPaths()
{
    for (FlowId flow = 0; flow < m_connections.size(); ++flow)
    {
        const uint32_t route = m_paths.GetRoute(flow);
        const Ipv4Address source = AddressOf(m_topology.pathSource[flow], route);
        const Ipv4Address target = AddressOf(m_topology.pathTarget[flow], route);
        for (const uint32_t link : m_links.GetPath(flow))
        {
            Ptr<Ipv4> ipv4 = m_nodes.Get(m_topology.linkSource[link])->GetObject<Ipv4>();
            DynamicCast<PinnedRouting>(ipv4->GetRoutingProtocol())
                ->AddPath(source, target, m_interfaceOfLink[link]);
        }
    }
}

Ptr<NativeTcpSocket>
NativeDatapath::MakeSocket(Rank rank, uint32_t transport)
{
    const TcpSettings& tcp = m_settings.GetTransport(transport).tcp;
    if (m_defaults != transport)
    {
        SetTcpDefaults(tcp);
        m_defaults = transport;
    }
    ObjectFactory congestionControl;
    congestionControl.SetTypeId(CongestionControlType(tcp));
    auto socket = CreateObject<NativeTcpSocket>();
    socket->Equip(tcp.recovery);
    socket->SetCongestionControl(congestionControl);
    socket->Attach(m_nodes.Get(rank));
    socket->SetLinkHeaderBytes(m_tcp.linkHeaderBytes);
    // Each handshake has the network to itself and loses nothing, so no SYN is repeated.
    socket->SetAttribute("ConnTimeout", TimeValue(m_handshakes->GetEnd()));
    return socket;
}

void
NativeDatapath::Listen()
{
    for (uint32_t transport = 0; transport < m_settings.CountTransports(); ++transport)
    { // a socket that listens passes its settings on to those that it accepts
        for (Rank rank = 0; rank < m_topology.GetEndpoints(); ++rank)
        {
            Ptr<NativeTcpSocket> socket = MakeSocket(rank, transport);
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PortOf(transport)));
            socket->Listen();
            socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&NativeDatapath::OnAccept, this));
            m_listeners.push_back(socket);
        }
    }
}

void
NativeDatapath::OpenConnections()
{
    for (FlowId flow = 0; flow < m_connections.size(); ++flow)
    {
        Simulator::Schedule(m_handshakes->GetStart(flow) - Simulator::Now(),
                            &NativeDatapath::Connect,
                            this,
                            flow);
    }
    m_handshakes->Pass();
    for (FlowId flow = 0; flow < m_connections.size(); ++flow)
    {
        const Connection& connection = m_connections[flow];
        if (!connection.receiver || !connection.sender->IsEstablished() ||
            !connection.receiver->IsEstablished())
        {
            throw CoreError("the connection from rank " +
                            std::to_string(m_topology.pathSource[flow]) + " to rank " +
                            std::to_string(m_topology.pathTarget[flow]) + " was not established");
        }
        connection.sender->StartReporting();
        connection.receiver->StartReporting();
    }
    for (const std::unique_ptr<LinkMonitor>& monitor : m_monitors)
    {
        monitor->Reset();
    }
}

void
NativeDatapath::Connect(FlowId flow)
{
    const uint32_t transport = m_topology.GetTransport(flow);
    Ptr<NativeTcpSocket> socket = MakeSocket(m_topology.pathSource[flow], transport);
    m_connections[flow].sender = socket;
    socket->Bind();
    socket->Connect(
        InetSocketAddress(AddressOf(m_topology.pathTarget[flow], m_paths.GetRoute(flow)),
                          PortOf(transport)));
    socket->Observe(&m_client, flow);
}

void
NativeDatapath::OnAccept(Ptr<Socket> socket, const Address& from)
{
    const Rank target = socket->GetNode()->GetId() - m_nodes.Get(0)->GetId();
    const uint32_t source = InetSocketAddress::ConvertFrom(from).GetIpv4().Get() - FIRST_ADDRESS;
    const FlowId flow = m_paths.Find(source / m_routes, target, source % m_routes);
    Ptr<NativeTcpSocket> receiver = DynamicCast<NativeTcpSocket>(socket);
    receiver->Observe(&m_client, flow);
    m_connections[flow].receiver = receiver;
}

void
NativeDatapath::Submit(std::span<const Submission> submissions)
{
    for (const Submission& one : submissions)
    {
        m_connections[one.flow].sender->Submit(one.bytes);
    }
}

uint32_t
NativeDatapath::GetWindow(FlowId flow) const
{
    return m_connections[flow].sender->GetWindow();
}

PacketCounts
NativeDatapath::GetSent() const
{
    PacketCounts sent;
    for (const Connection& connection : m_connections)
    {
        AddCounters(sent, connection.sender->GetSent());
        AddCounters(sent, connection.receiver->GetSent());
    }
    return sent;
}

LinkCounters
NativeDatapath::GetLink(uint32_t link) const
{
    return m_monitors[link]->GetCounters();
}

} // namespace cosim
