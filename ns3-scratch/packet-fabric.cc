/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "packet-fabric.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cosim
{

using namespace ns3;

namespace
{

constexpr double PS_PER_NS = 1000.0;

/// @return the value at the share q of sorted values
double
Quantile(const std::vector<double>& sorted, double q)
{
    if (sorted.empty())
    {
        return 0;
    }
    const double rank = std::ceil(q * static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

} // namespace

PacketFabric::PacketFabric(const Topology& topology, const Settings& settings)
    : m_topology(topology),
      m_settings(settings),
      m_flows(topology.pathSource.size()),
      m_flowOfPair(static_cast<std::size_t>(topology.ranks) * topology.ranks, NO_FLOW)
{
    for (FlowId flow = 0; flow < m_flows.size(); ++flow)
    {
        const std::size_t source = topology.pathSource[flow];
        m_flowOfPair[source * topology.ranks + topology.pathTarget[flow]] = flow;
    }
}

void
PacketFabric::SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent)
{
    SubmitMessage(src, dst, bytes, tag, false, std::move(sent));
}

void
PacketFabric::SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received)
{
    FindFlow(src, dst);
    m_matcher.Post(src, dst, bytes, tag, std::move(received));
}

void
PacketFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    SubmitMessage(src, dst, bytes, tag, true, {});
}

void
PacketFabric::SetArrivalHandler(ArrivalHandler* handler)
{
    m_arrivalHandler = handler;
}

void
PacketFabric::SimSchedule(Time delay, Callback callback)
{
    Simulator::Schedule(delay, [callback = std::move(callback)] { callback(); });
}

Time
PacketFabric::SimGetTime() const
{
    return TimeStep(static_cast<uint64_t>(Simulator::Now().GetTimeStep() - m_startPs));
}

uint32_t
PacketFabric::SimCommSize() const
{
    return m_topology.ranks;
}

void
PacketFabric::SimFinish()
{
    Simulator::Stop();
}

void
PacketFabric::Start()
{
    Build();
    m_startPs = Simulator::Now().GetTimeStep();
    m_isStarted = true;
}

void
PacketFabric::Finish()
{
    m_finishPs = Simulator::Now().GetTimeStep();
}

FlowId
PacketFabric::FindFlow(Rank src, Rank dst) const
{
    if (src >= m_topology.ranks || dst >= m_topology.ranks)
    {
        throw std::invalid_argument("rank " + std::to_string(std::max(src, dst)) +
                                    " does not exist: ranks are 0 to " +
                                    std::to_string(m_topology.ranks - 1));
    }
    const FlowId flow = m_flowOfPair[static_cast<std::size_t>(src) * m_topology.ranks + dst];
    if (flow == NO_FLOW)
    {
        throw std::invalid_argument("there is no path from rank " + std::to_string(src) +
                                    " to rank " + std::to_string(dst));
    }
    return flow;
}

void
PacketFabric::SubmitMessage(Rank src,
                            Rank dst,
                            uint64_t bytes,
                            uint64_t tag,
                            bool isPut,
                            Callback sent)
{
    const FlowId id = FindFlow(src, dst);
    Flow& flow = m_flows[id];
    const uint64_t streamBytes = std::max<uint64_t>(bytes, 1);
    flow.submitted += streamBytes;
    flow.messages.Push({flow.submitted, bytes, tag, Simulator::Now().GetTimeStep(), isPut});
    if (sent)
    {
        flow.awaitedAcks.Push({flow.submitted, std::move(sent)});
    }
    Submit(id, streamBytes);
}

void
PacketFabric::OnDelivered(FlowId id, uint64_t bytes)
{
    Flow& flow = m_flows[id];
    flow.delivered += bytes;
    while (!flow.messages.IsEmpty() && flow.messages.Front().streamEnd <= flow.delivered)
    {
        const Message message = flow.messages.Pop();
        ++m_counters.messages;
        m_counters.payloadBytes += message.bytes;
        m_completionPs.Add(static_cast<uint64_t>(Simulator::Now().GetTimeStep() - message.sentPs));
        const Rank src = m_topology.pathSource[id];
        const Rank dst = m_topology.pathTarget[id];
        if (message.isPut)
        {
            m_arrivalHandler->OnArrival(src, dst, message.bytes, message.tag);
        }
        else
        {
            m_matcher.Arrive(src, dst, message.bytes, message.tag);
        }
    }
}

void
PacketFabric::OnAcked(FlowId id, uint64_t bytes)
{
    Flow& flow = m_flows[id];
    flow.acked += bytes;
    while (!flow.awaitedAcks.IsEmpty() && flow.awaitedAcks.Front().streamEnd <= flow.acked)
    {
        flow.awaitedAcks.Pop().sent();
    }
}

void
PacketFabric::OnPacketSent(uint32_t wireBytes, uint32_t payloadBytes, bool isRetransmission)
{
    ++m_counters.packets;
    m_counters.wireBytes += wireBytes;
    m_counters.dataPackets += payloadBytes > 0 ? 1 : 0;
    m_counters.retransmissions += isRetransmission ? 1 : 0;
}

void
PacketFabric::OnRttSample(FlowId id, Time rtt)
{
    const auto interval = static_cast<int64_t>(m_settings.rttSampleIntervalPs);
    if (interval == 0 || !m_isStarted)
    {
        return;
    }
    // The first round trip measured in each interval stands for it: no timer, idle flows are free.
    Flow& flow = m_flows[id];
    const int64_t index = (Simulator::Now().GetTimeStep() - m_startPs) / interval;
    if (index != flow.rttInterval)
    {
        flow.rttInterval = index;
        flow.rttSumNs += static_cast<double>(rtt.GetTimeStep()) / PS_PER_NS;
        ++flow.rttSamples;
    }
}

void
PacketFabric::OnTimeout(FlowId /* flow */)
{
    ++m_counters.rtoEvents;
    Poll(); // between timeouts there may be no other packet for long
}

void
PacketFabric::OnClosed(FlowId flow)
{
    m_failure = "the flow from rank " + std::to_string(m_topology.pathSource[flow]) + " to rank " +
                std::to_string(m_topology.pathTarget[flow]) + " was closed after " +
                std::to_string(m_settings.tcp.dataRetries) + " retransmission timeouts in a row";
    Simulator::Stop();
}

uint32_t
PacketFabric::GetFlowCount() const
{
    return static_cast<uint32_t>(m_flows.size());
}

std::span<const uint32_t>
PacketFabric::GetPath(FlowId flow) const
{
    const uint32_t begin = m_topology.pathBegin[flow];
    return std::span(m_topology.pathLinks).subspan(begin, m_topology.pathBegin[flow + 1] - begin);
}

FlowId
PacketFabric::GetReverse(FlowId flow) const
{
    return FindFlow(m_topology.pathTarget[flow], m_topology.pathSource[flow]);
}

uint32_t
PacketFabric::GetMaxWireBytes() const
{
    return m_settings.tcp.mtuBytes + m_settings.tcp.linkHeaderBytes;
}

uint64_t
PacketFabric::GetDeliveredBytes() const
{
    return m_counters.payloadBytes;
}

std::string
PacketFabric::GetFailure() const
{
    return m_failure;
}

void
PacketFabric::SetPollHook(PollHook hook)
{
    m_pollHook = std::move(hook);
}

NetworkStatistics
PacketFabric::GetStatistics() const
{
    NetworkStatistics statistics = m_counters;
    statistics.fctMeanNs = m_completionPs.GetMean() / PS_PER_NS;
    statistics.fctP50Ns = m_completionPs.GetQuantile(0.5) / PS_PER_NS;
    statistics.fctP99Ns = m_completionPs.GetQuantile(0.99) / PS_PER_NS;
    statistics.fctMaxNs = static_cast<double>(m_completionPs.GetMax()) / PS_PER_NS;
    AddRttStatistics(statistics);
    AddLinkStatistics(statistics);
    return statistics;
}

void
PacketFabric::AddRttStatistics(NetworkStatistics& statistics) const
{
    std::vector<double> averages;
    for (const Flow& flow : m_flows)
    {
        statistics.flows += flow.submitted > 0 ? 1 : 0;
        if (flow.rttSamples > 0)
        {
            averages.push_back(flow.rttSumNs / flow.rttSamples);
        }
    }
    std::sort(averages.begin(), averages.end());
    statistics.rttFlows = averages.size();
    statistics.rttP50Ns = Quantile(averages, 0.5);
    statistics.rttP99Ns = Quantile(averages, 0.99);
    if (!averages.empty())
    {
        statistics.rttMeanNs = std::accumulate(averages.begin(), averages.end(), 0.0) /
                               static_cast<double>(averages.size());
    }
}

void
PacketFabric::AddLinkStatistics(NetworkStatistics& statistics) const
{
    const int64_t end = m_finishPs >= 0 ? m_finishPs : Simulator::Now().GetTimeStep();
    const double elapsedPs = static_cast<double>(std::max<int64_t>(end - m_startPs, 1));
    statistics.dimensions.resize(m_topology.dimensions.size());
    for (std::size_t i = 0; i < m_topology.dimensions.size(); ++i)
    {
        statistics.dimensions[i].name = m_topology.dimensions[i];
    }
    double usedLinks = 0;
    double utilizationSum = 0;
    for (uint32_t link = 0; link < m_topology.linkSource.size(); ++link)
    {
        const LinkCounters counters = GetLinkCounters(link);
        const double utilization = std::min(1.0, static_cast<double>(counters.busyPs) / elapsedPs);
        DimensionStatistics& dimension = statistics.dimensions[m_topology.linkDimension[link]];
        ++dimension.links;
        dimension.wireBytes += counters.wireBytes;
        dimension.drops += counters.drops;
        if (m_topology.linkBufferBytes[link] != 0)
        {
            dimension.maxQueueBytes = std::max(dimension.maxQueueBytes, counters.maxQueueBytes);
        }
        dimension.utilizationMean += utilization; // a sum until below
        dimension.utilizationMax = std::max(dimension.utilizationMax, utilization);
        statistics.drops += counters.drops;
        statistics.ecnMarks += counters.marks;
        if (counters.wireBytes > 0)
        {
            usedLinks += 1;
            utilizationSum += utilization;
        }
    }
    for (DimensionStatistics& dimension : statistics.dimensions)
    {
        dimension.utilizationMean /= static_cast<double>(std::max<uint64_t>(dimension.links, 1));
    }
    statistics.linkUtilizationMean = usedLinks > 0 ? utilizationSum / usedLinks : 0;
}

} // namespace cosim
