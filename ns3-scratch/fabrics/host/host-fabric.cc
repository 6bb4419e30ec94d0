/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/host/host-fabric.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

using namespace ns3;

HostFabric::HostFabric(std::unique_ptr<Fabric> fabric,
                       const Topology& topology,
                       const SystemSettings& settings)
    : m_fabric(std::move(fabric)),
      m_flows(std::max(settings.flowsPerPair, 1U)),
      m_ranks(topology.ranks),
      m_sending{settings.send, std::vector<uint64_t>(std::size_t{topology.ranks} * m_flows)},
      m_receiving{settings.receive, std::vector<uint64_t>(std::size_t{topology.ranks} * m_flows)}
{
}

void
HostFabric::SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
{
    Accept({src, dst, route, bytes, tag, false, m_flows, m_flows + 1, std::move(sent)});
}

void
HostFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route)
{
    Accept({src, dst, route, bytes, tag, true, m_flows, m_flows + 1, {}});
}

void
HostFabric::Accept(Message message)
{
    const uint32_t id = m_messages.Take();
    const Rank src = message.src;
    m_messages[id] = std::move(message);
    for (uint32_t flow = 0; flow < m_flows; ++flow)
    {
        Process(m_sending, src, {id, flow}, &HostFabric::Enter);
    }
}

uint64_t
HostFabric::GetBytes(Part part) const
{
    const uint64_t bytes = m_messages[part.message].bytes;
    return MultiplyDivide(uint64_t{part.flow} + 1, bytes, m_flows) -
           MultiplyDivide(part.flow, bytes, m_flows);
}

/// Let a processor handle a part, and call a member function when it has.
void
HostFabric::Process(Processors& processors, Rank rank, Part part, Step next)
{
    constexpr uint64_t psPerS = 1'000'000'000'000;
    if (rank >= m_ranks)
    { // a switch that reduces
        (this->*next)(part);
        return;
    }
    const HostCost& cost = processors.cost;
    uint64_t duration = cost.messagePs;
    if (cost.bytesPerS != 0)
    {
        duration += MultiplyDivideUp(GetBytes(part), psPerS, cost.bytesPerS, MAX_TIME_PS);
    }
    const auto now = static_cast<uint64_t>(SimGetTime().GetTimeStep());
    uint64_t& free = processors.free[std::size_t{rank} * m_flows + part.flow];
    if (duration == 0 && free <= now)
    {
        (this->*next)(part);
        return;
    }
    free = std::min(std::max(free, now) + duration, now + MAX_TIME_PS);
    Simulator::Schedule(TimeStep(free - now), next, this, part);
}

/// Hand a part to the network.
void
HostFabric::Enter(Part part)
{
    const Message& message = m_messages[part.message];
    const uint64_t bytes = GetBytes(part);
    const uint64_t tag = uint64_t{part.message} * m_flows + part.flow;
    m_fabric->SimRecv(message.src, message.dst, bytes, tag, [this, part] { OnPart(part); });
    m_fabric->SimSend(message.src,
                      message.dst,
                      bytes,
                      tag,
                      message.route * m_flows + part.flow,
                      [this, part] { OnAcked(part.message); });
}

void
HostFabric::OnPart(Part part)
{
    Process(m_receiving, m_messages[part.message].dst, part, &HostFabric::OnReceived);
}

void
HostFabric::OnReceived(Part part)
{
    Message& message = m_messages[part.message];
    if (--message.partsLeft > 0)
    {
        return;
    }
    const Rank src = message.src;
    const Rank dst = message.dst;
    const uint64_t bytes = message.bytes;
    const uint64_t tag = message.tag;
    const bool isPut = message.isPut;
    OnAcked(part.message);
    if (isPut)
    {
        m_handler->OnArrival(src, dst, bytes, tag);
    }
    else
    {
        m_matcher.Arrive(src, dst, bytes, tag);
    }
}

/// The message is done with when it has arrived and all of its parts are acknowledged.
void
HostFabric::OnAcked(uint32_t id)
{
    if (--m_messages[id].acksLeft > 0)
    {
        return;
    }
    const Callback sent = std::exchange(m_messages[id].sent, {});
    m_messages.Return(id);
    if (sent)
    {
        sent();
    }
}

void
HostFabric::SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received)
{
    m_matcher.Post(src, dst, bytes, tag, std::move(received));
}

void
HostFabric::SetArrivalHandler(ArrivalHandler* handler)
{
    m_handler = handler;
}

void
HostFabric::SimSchedule(Time delay, Callback callback)
{
    m_fabric->SimSchedule(delay, std::move(callback));
}

Time
HostFabric::SimGetTime() const
{
    return m_fabric->SimGetTime();
}

uint32_t
HostFabric::SimCommSize() const
{
    return m_fabric->SimCommSize();
}

void
HostFabric::SimFinish()
{
    m_fabric->SimFinish();
}

void
HostFabric::Start()
{
    m_fabric->Start();
}

void
HostFabric::Finish()
{
    m_fabric->Finish();
}

NetworkStatistics
HostFabric::GetStatistics() const
{
    return m_fabric->GetStatistics();
}

const LiveLinks&
HostFabric::GetLiveLinks() const
{
    return m_fabric->GetLiveLinks();
}

std::vector<LinkCounters>
HostFabric::GetLinks() const
{
    return m_fabric->GetLinks();
}

LinkCounters
HostFabric::GetLink(uint32_t link) const
{
    return m_fabric->GetLink(link);
}

uint64_t
HostFabric::GetElapsed() const
{
    return m_fabric->GetElapsed();
}

const FlowCounters&
HostFabric::GetFlow(uint32_t path) const
{
    return m_fabric->GetFlow(path);
}

FlowState
HostFabric::GetFlowState(uint32_t path) const
{
    return m_fabric->GetFlowState(path);
}

uint64_t
HostFabric::GetCompletionQuantilePs(double q) const
{
    return m_fabric->GetCompletionQuantilePs(q);
}

uint64_t
HostFabric::GetDeliveredBytes() const
{
    return m_fabric->GetDeliveredBytes();
}

uint64_t
HostFabric::GetSentPackets() const
{
    return m_fabric->GetSentPackets();
}

LinkControl*
HostFabric::GetLinkControl()
{
    return m_fabric->GetLinkControl();
}

std::string
HostFabric::GetFailure() const
{
    return m_fabric->GetFailure();
}

void
HostFabric::Abandon(uint32_t path)
{
    m_fabric->Abandon(path);
}

void
HostFabric::Fail(const std::string& failure)
{
    m_fabric->Fail(failure);
}

void
HostFabric::SetObservers(const RunObservers& observers)
{
    m_fabric->SetObservers(observers);
}

} // namespace cosim
