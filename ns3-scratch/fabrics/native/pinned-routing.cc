/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/native/pinned-routing.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4.h"
#include "ns3/net-device.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"

namespace cosim
{

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(PinnedRouting);

namespace
{

uint64_t
KeyOf(Ipv4Address source, Ipv4Address destination)
{
    return static_cast<uint64_t>(source.Get()) << 32 | destination.Get();
}

} // namespace

TypeId
PinnedRouting::GetTypeId()
{
    static TypeId tid = TypeId("cosim::PinnedRouting")
                            .SetParent<Ipv4RoutingProtocol>()
                            .SetGroupName("Cosim")
                            .AddConstructor<PinnedRouting>();
    return tid;
}

void
PinnedRouting::AddLocal(Ipv4Address local)
{
    m_local.insert(local.Get());
}

void
PinnedRouting::SetForwardingDelay(Time delay)
{
    m_forwardingDelay = delay;
}

void
PinnedRouting::AddPath(Ipv4Address source, Ipv4Address destination, uint32_t interface)
{
    m_interfaces[KeyOf(source, destination)] = interface;
    if (m_local.contains(source.Get()))
    {
        m_sources[destination.Get()] = source;
    }
}

Ptr<Ipv4Route>
PinnedRouting::Find(Ipv4Address source, Ipv4Address destination) const
{
    const auto found = m_interfaces.find(KeyOf(source, destination));
    if (found == m_interfaces.end())
    {
        return nullptr;
    }
    Ptr<Ipv4Route> route = Create<Ipv4Route>();
    route->SetSource(source);
    route->SetDestination(destination);
    route->SetGateway(Ipv4Address::GetZero());
    route->SetOutputDevice(m_ipv4->GetNetDevice(found->second));
    return route;
}

Ptr<Ipv4Route>
PinnedRouting::RouteOutput(Ptr<Packet> /* packet */,
                           const Ipv4Header& header,
                           Ptr<NetDevice> /* oif */,
                           Socket::SocketErrno& error)
{
    // A connecting socket gives only the destination. The source is then this node, with the
    // address of the path to that destination.
    const auto source = m_sources.find(header.GetDestination().Get());
    Ptr<Ipv4Route> route =
        source == m_sources.end() ? nullptr : Find(source->second, header.GetDestination());
    error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return route;
}

bool
PinnedRouting::RouteInput(Ptr<const Packet> packet,
                          const Ipv4Header& header,
                          Ptr<const NetDevice> device,
                          const UnicastForwardCallback& forward,
                          const MulticastForwardCallback& /* multicast */,
                          const LocalDeliverCallback& deliver,
                          const ErrorCallback& error)
{
    if (m_local.contains(header.GetDestination().Get()))
    {
        deliver(packet, header, static_cast<uint32_t>(m_ipv4->GetInterfaceForDevice(device)));
        return true;
    }
    if (Ptr<Ipv4Route> route = Find(header.GetSource(), header.GetDestination()))
    {
        if (m_local.empty() || m_forwardingDelay.IsZero())
        {
            forward(route, packet, header);
            return true;
        }
        Simulator::Schedule(m_forwardingDelay,
                            [forward, route, packet, header] { forward(route, packet, header); });
        return true;
    }
    error(packet, header, Socket::ERROR_NOROUTETOHOST);
    return false;
}

void
PinnedRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ipv4 = ipv4;
}

void
PinnedRouting::DoDispose()
{
    m_ipv4 = nullptr;
    Ipv4RoutingProtocol::DoDispose();
}

// The paths are pinned, so changes of interfaces and addresses do not affect them.

void
PinnedRouting::NotifyInterfaceUp(uint32_t /* interface */)
{
}

void
PinnedRouting::NotifyInterfaceDown(uint32_t /* interface */)
{
}

void
PinnedRouting::NotifyAddAddress(uint32_t /* interface */, Ipv4InterfaceAddress /* address */)
{
}

void
PinnedRouting::NotifyRemoveAddress(uint32_t /* interface */, Ipv4InterfaceAddress /* address */)
{
}

void
PinnedRouting::PrintRoutingTable(Ptr<OutputStreamWrapper> stream, Time::Unit /* unit */) const
{
    for (const auto& [key, interface] : m_interfaces)
    {
        *stream->GetStream() << Ipv4Address(static_cast<uint32_t>(key >> 32)) << " -> "
                             << Ipv4Address(static_cast<uint32_t>(key)) << " interface "
                             << interface << '\n';
    }
}

} // namespace cosim
