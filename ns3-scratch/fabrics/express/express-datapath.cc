/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/express/express-datapath.h"

#include "fabrics/express/circuit-router.h"
#include "fabrics/express/detour-router.h"
#include "fabrics/express/path-router.h"
#include "transport/pulled-sender.h"

#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

/// @return the router that a topology needs
std::unique_ptr<Router>
MakeRouter(const DatapathSetup& setup,
           DatapathClient& client,
           const Transport& transport,
           ExpressLinks& links,
           ExpressFlows& flows)
{
    const Topology& topology = setup.topology;
    if (topology.HasCircuits())
    {
        if (!transport.CanPause())
        {
            throw std::invalid_argument(
                "topology: circuits that change need a transport whose senders can pause");
        }
        return std::make_unique<CircuitRouter>(setup, client, links, flows);
    }
    if (!topology.HasFixedPaths())
    {
        return std::make_unique<DetourRouter>(setup, client, links, flows);
    }
    return std::make_unique<PathRouter>(setup, links, flows);
}

} // namespace

ExpressDatapath::ExpressDatapath(const DatapathSetup& setup,
                                 DatapathClient& client,
                                 std::unique_ptr<Transport> transport,
                                 SwitchBuffers buffers,
                                 PortMaker makePort)
    : m_transport(std::move(transport)),
      m_links(setup, client, *m_transport, std::move(buffers), std::move(makePort)),
      m_flows(setup, *m_transport),
      m_router(MakeRouter(setup, client, *m_transport, m_links, m_flows)),
      m_replayable(m_transport->GetReplayable())
{
    m_transport->Attach(*m_router, client);
    if (PulledTransport* const pulled = m_transport->GetPulled(); pulled != nullptr)
    {
        m_interfaces.emplace(setup, m_links, *m_router, m_flows);
        pulled->SetPuller(*m_interfaces);
        m_router->CallOnReroute([this] { m_interfaces->OnReroute(); });
    }
}

void
ExpressDatapath::Open(const HandshakePlan& handshakes)
{
    m_links.Build(*m_router);
    if (!m_router->OpensAtOnce())
    {
        m_flows.SetHandshakes(&handshakes);
        // Some congestion controls of ns-3 look at the time since the simulation began, so the
        // clock starts when that of the native datapath does.
        handshakes.Pass();
    }
}

void
ExpressDatapath::Submit(std::span<const Submission> submissions)
{
    for (const Submission& one : submissions)
    {
        if (!m_router->Hold(one.flow, one.bytes))
        {
            m_flows.Send(one.flow, one.bytes);
        }
    }
}

void
ExpressDatapath::Abandon(FlowId flow)
{
    m_flows.Abandon(flow);
}

uint32_t
ExpressDatapath::GetWindow(FlowId flow) const
{
    const FlowSender* sender = m_flows.GetSender(flow);
    return sender == nullptr ? 0 : sender->GetWindow();
}

double
ExpressDatapath::GetRateBps(FlowId flow) const
{
    const FlowSender* sender = m_flows.GetSender(flow);
    return sender == nullptr ? 0 : sender->GetRateBps();
}

PacketCounts
ExpressDatapath::GetSent() const
{
    return m_transport->GetSent();
}

LinkCounters
ExpressDatapath::GetLink(uint32_t link) const
{
    return m_links[link].GetCounters();
}

void
ExpressDatapath::AddStatistics(NetworkStatistics& statistics) const
{
    m_router->AddStatistics(statistics);
    m_transport->AddStatistics(statistics);
    m_links.AddStatistics(statistics);
}

LinkControl*
ExpressDatapath::GetLinkControl()
{
    return m_router->GetLinkControl();
}

// Replay.

ReplayableDatapath*
ExpressDatapath::GetReplayable()
{
    return m_replayable != nullptr ? this : nullptr;
}

std::unique_ptr<FlowTrail>
ExpressDatapath::BeginTrail(FlowId flow)
{
    return m_replayable->BeginTrail(m_flows.Connect(flow));
}

PacketCounts
ExpressDatapath::CountPackets(FlowId flow, const FlowTrail& trail)
{
    return trail.CountPackets(m_flows.Connect(flow));
}

bool
ExpressDatapath::EndTrail(FlowId flow, FlowTrail& trail)
{
    return trail.End(*m_flows.GetSender(flow));
}

bool
ExpressDatapath::Fits(FlowId flow, const FlowTrail& trail)
{
    return trail.Fits(*m_flows.Connect(flow).sender);
}

void
ExpressDatapath::Advance(FlowId flow, FlowTrail& trail, int64_t startPs)
{
    trail.Advance(m_flows.Connect(flow), startPs);
}

uint64_t
ExpressDatapath::TakeLongestQueue(uint32_t link)
{
    return m_links[link].TakeLongestQueue();
}

} // namespace cosim
