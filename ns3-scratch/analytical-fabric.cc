/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "analytical-fabric.h"

#include "stream-validator.h"
#include "tcp-defaults.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

__extension__ typedef unsigned __int128 Wide;

/// Bytes of the TCP timestamp option with its padding.
constexpr uint32_t TIMESTAMP_OPTION_BYTES = 12;

/// Messages between two calls of the poll hook.
constexpr uint64_t POLL_MESSAGES = 1024;

uint64_t
PairOf(Rank src, Rank dst)
{
    return static_cast<uint64_t>(src) << 32 | dst;
}

/// @return a + b, at most twice MAX_TIME_PS
uint64_t
Later(uint64_t a, uint64_t b)
{
    return std::min(a + b, 2 * MAX_TIME_PS);
}

} // namespace

AnalyticalFabric::AnalyticalFabric(const Topology& topology, const Settings& settings)
    : m_topology(topology),
      m_settings(settings),
      m_headerBytes(IPV4_HEADER_BYTES + TCP_HEADER_BYTES + settings.tcp.linkHeaderBytes +
                    (settings.tcp.timestamps ? TIMESTAMP_OPTION_BYTES : 0)),
      m_links(topology.linkSource.size()),
      m_usedPaths(topology.pathSource.size())
{
    m_pathOf.reserve(topology.pathSource.size());
    for (uint32_t i = 0; i < topology.pathSource.size(); ++i)
    {
        m_pathOf.emplace(PairOf(topology.pathSource[i], topology.pathTarget[i]), i);
    }
}

void
AnalyticalFabric::Start()
{
    m_start = ns3::Simulator::Now();
}

void
AnalyticalFabric::Finish()
{
    m_finish = SimGetTime();
}

NetworkStatistics
AnalyticalFabric::GetStatistics() const
{
    NetworkStatistics result = m_statistics;
    const ns3::Time end = m_finish.IsNegative() ? SimGetTime() : m_finish;
    const auto elapsed = static_cast<double>(end.GetTimeStep());
    result.flows = static_cast<uint64_t>(std::count(m_usedPaths.begin(), m_usedPaths.end(), true));
    result.fctMeanNs = m_completion.GetMean() / 1e3;
    result.fctP50Ns = m_completion.GetQuantile(0.5) / 1e3;
    result.fctP99Ns = m_completion.GetQuantile(0.99) / 1e3;
    result.fctMaxNs = static_cast<double>(m_completion.GetMax()) / 1e3;
    result.dimensions.resize(m_topology.dimensions.size());
    uint64_t used = 0;
    double utilization = 0;
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        const Link& link = m_links[i];
        DimensionStatistics& dimension = result.dimensions[m_topology.linkDimension[i]];
        // What is queued now is counted as carried, but not more than the time that has passed.
        const double share =
            elapsed == 0 ? 0 : std::min(1.0, static_cast<double>(link.busy) / elapsed);
        ++dimension.links;
        dimension.wireBytes += link.wireBytes;
        dimension.maxQueueBytes = std::max(dimension.maxQueueBytes, link.maxQueueBytes);
        dimension.utilizationMean += share;
        dimension.utilizationMax = std::max(dimension.utilizationMax, share);
        if (link.wireBytes != 0)
        {
            ++used;
            utilization += share;
        }
    }
    result.linkUtilizationMean = used == 0 ? 0 : utilization / static_cast<double>(used);
    for (std::size_t i = 0; i < result.dimensions.size(); ++i)
    {
        DimensionStatistics& dimension = result.dimensions[i];
        dimension.name = m_topology.dimensions[i];
        if (dimension.links != 0)
        {
            dimension.utilizationMean /= static_cast<double>(dimension.links);
        }
    }
    return result;
}

uint64_t
AnalyticalFabric::GetDeliveredBytes() const
{
    return m_statistics.payloadBytes;
}

std::string
AnalyticalFabric::GetFailure() const
{
    return m_failure;
}

void
AnalyticalFabric::SetPollHook(PollHook hook)
{
    m_poll = std::move(hook);
}

void
AnalyticalFabric::SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent)
{
    Message message{};
    message.src = src;
    message.dst = dst;
    message.bytes = bytes;
    message.tag = tag;
    message.sent = std::move(sent);
    Submit(std::move(message));
}

void
AnalyticalFabric::SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received)
{
    FindPath(src, dst);
    m_matcher.Post(src, dst, bytes, tag, std::move(received));
}

void
AnalyticalFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    Message message{};
    message.src = src;
    message.dst = dst;
    message.bytes = bytes;
    message.tag = tag;
    message.isPut = true;
    Submit(std::move(message));
}

void
AnalyticalFabric::SetArrivalHandler(ArrivalHandler* handler)
{
    m_handler = handler;
}

void
AnalyticalFabric::SimSchedule(ns3::Time delay, Callback callback)
{
    ns3::Simulator::Schedule(delay, [callback = std::move(callback)] { callback(); });
}

ns3::Time
AnalyticalFabric::SimGetTime() const
{
    return ns3::Simulator::Now() - m_start;
}

uint32_t
AnalyticalFabric::SimCommSize() const
{
    return m_topology.ranks;
}

void
AnalyticalFabric::SimFinish()
{
    ns3::Simulator::Stop();
}

uint32_t
AnalyticalFabric::FindPath(Rank src, Rank dst) const
{
    const auto path = m_pathOf.find(PairOf(src, dst));
    if (path == m_pathOf.end())
    {
        throw std::invalid_argument("there is no path from rank " + std::to_string(src) +
                                    " to rank " + std::to_string(dst));
    }
    return path->second;
}

void
AnalyticalFabric::Submit(Message message)
{
    message.path = FindPath(message.src, message.dst);
    message.hop = m_topology.pathBegin[message.path];
    const uint64_t payload = std::max<uint64_t>(message.bytes, 1);
    const uint64_t segment = m_settings.tcp.segmentBytes;
    const uint64_t packets = (payload + segment - 1) / segment;
    message.wireBytes = payload + packets * m_headerBytes;
    message.firstBytes = std::min(payload, segment) + m_headerBytes;
    message.lastBytes = payload - (packets - 1) * segment + m_headerBytes;
    message.sentAt = Now();
    message.lastAt = 0; // the whole message is there
    m_usedPaths[message.path] = true;
    m_statistics.packets += packets;
    m_statistics.dataPackets += packets;
    m_statistics.wireBytes += message.wireBytes;
    if (m_freeMessages.empty())
    {
        m_freeMessages.push_back(static_cast<uint32_t>(m_messages.size()));
        m_messages.emplace_back();
    }
    const uint32_t id = m_freeMessages.back();
    m_freeMessages.pop_back();
    m_messages[id] = std::move(message);
    Cross(id);
}

void
AnalyticalFabric::Cross(uint32_t id)
{
    Message& message = m_messages[id];
    const uint32_t linkId = m_topology.pathLinks[message.hop];
    Link& link = m_links[linkId];
    const uint64_t now = Now();
    const uint64_t latency = m_topology.linkLatencyPs[linkId];
    const uint64_t start = std::max(now, link.freeAt);
    uint64_t end = Later(start, TransmissionPs(message.wireBytes, linkId));
    if (message.hop != m_topology.pathBegin[message.path])
    {
        end = std::max(end, Later(message.lastAt, TransmissionPs(message.lastBytes, linkId)));
        const Wide queued = Wide{start - now} * m_topology.linkRateBps[linkId] / 8'000'000'000'000;
        link.maxQueueBytes = std::max(link.maxQueueBytes, static_cast<uint64_t>(queued));
    }
    link.freeAt = end;
    link.busy += end - start;
    link.wireBytes += message.wireBytes;
    ++message.hop;
    if (end >= 2 * MAX_TIME_PS - latency)
    {
        m_failure = "a message of " + std::to_string(message.bytes) + " bytes from rank " +
                    std::to_string(message.src) + " to rank " + std::to_string(message.dst) +
                    " takes longer than can be simulated";
        ns3::Simulator::Stop();
        return;
    }
    if (message.hop == m_topology.pathBegin[message.path + 1])
    {
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(end + latency - now)),
                                 &AnalyticalFabric::Deliver,
                                 this,
                                 id);
        return;
    }
    const uint64_t forwarding = ForwardingPs(message);
    message.lastAt = end + latency + forwarding;
    const uint64_t first =
        start + TransmissionPs(message.firstBytes, linkId) + latency + forwarding;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(first - now)),
                             &AnalyticalFabric::Cross,
                             this,
                             id);
}

void
AnalyticalFabric::Deliver(uint32_t id)
{
    Message& message = m_messages[id];
    const Rank src = message.src;
    const Rank dst = message.dst;
    const uint64_t bytes = message.bytes;
    const uint64_t tag = message.tag;
    const bool isPut = message.isPut;
    m_completion.Add(Now() - message.sentAt);
    ++m_statistics.messages;
    m_statistics.payloadBytes += bytes;
    if (message.sent)
    {
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(AcknowledgementPs(src, dst))),
                                 [sent = std::move(message.sent)] { sent(); });
    }
    message.sent = nullptr;
    m_freeMessages.push_back(id);
    if (!isPut)
    {
        m_matcher.Arrive(src, dst, bytes, tag);
    }
    else if (m_handler != nullptr)
    {
        m_handler->OnArrival(src, dst, bytes, tag);
    }
    if (m_poll && m_statistics.messages % POLL_MESSAGES == 0)
    {
        m_poll();
    }
}

uint64_t
AnalyticalFabric::TransmissionPs(uint64_t bytes, uint32_t link) const
{
    const uint64_t rate = m_topology.linkRateBps[link];
    constexpr uint64_t bitPs = 8'000'000'000'000; // per byte at 1 bit/s
    if (bytes < (uint64_t{1} << 20))
    {
        return std::min((bytes * bitPs + rate - 1) / rate, MAX_TIME_PS);
    }
    return static_cast<uint64_t>(
        std::min((Wide{bytes} * bitPs + rate - 1) / rate, Wide{MAX_TIME_PS}));
}

uint64_t
AnalyticalFabric::ForwardingPs(const Message& message) const
{
    const uint32_t node = m_topology.linkSource[m_topology.pathLinks[message.hop]];
    return node < m_topology.ranks ? m_topology.forwardingDelayPs : 0;
}

uint64_t
AnalyticalFabric::AcknowledgementPs(Rank src, Rank dst) const
{
    const uint32_t path = FindPath(dst, src);
    uint64_t sum = 0;
    for (uint32_t i = m_topology.pathBegin[path]; i < m_topology.pathBegin[path + 1]; ++i)
    {
        const uint32_t link = m_topology.pathLinks[i];
        sum = Later(sum, TransmissionPs(m_headerBytes, link));
        sum = Later(sum, m_topology.linkLatencyPs[link]);
        if (i != m_topology.pathBegin[path] && m_topology.linkSource[link] < m_topology.ranks)
        {
            sum = Later(sum, m_topology.forwardingDelayPs);
        }
    }
    return sum;
}

uint64_t
AnalyticalFabric::Now() const
{
    return static_cast<uint64_t>(SimGetTime().GetTimeStep());
}

std::unique_ptr<Fabric>
MakeAnalyticalFabric(const Topology& topology, const Settings& settings)
{
    return std::make_unique<AnalyticalFabric>(topology, settings);
}

} // namespace cosim
