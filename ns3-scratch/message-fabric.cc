/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "message-fabric.h"

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

} // namespace

MessageFabric::MessageFabric(const Topology& topology, const Settings& settings)
    : m_topology(topology),
      m_settings(settings),
      m_headerBytes(IPV4_HEADER_BYTES + TCP_HEADER_BYTES + settings.tcp.linkHeaderBytes +
                    (settings.tcp.timestamps ? TIMESTAMP_OPTION_BYTES : 0)),
      m_pathOf(static_cast<std::size_t>(topology.ranks) * topology.ranks, NONE),
      m_usedPaths(topology.pathSource.size())
{
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        const std::size_t source = topology.pathSource[path];
        m_pathOf[source * topology.ranks + topology.pathTarget[path]] = path;
    }
}

void
MessageFabric::Start()
{
    m_start = ns3::Simulator::Now();
}

void
MessageFabric::Finish()
{
    m_finish = SimGetTime();
}

NetworkStatistics
MessageFabric::GetStatistics() const
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
    const std::vector<LinkUse> uses = GetLinkUses();
    for (std::size_t i = 0; i < uses.size(); ++i)
    {
        const LinkUse& use = uses[i];
        DimensionStatistics& dimension = result.dimensions[m_topology.linkDimension[i]];
        // What is queued now is counted as carried, but not more than the time that has passed.
        const double share = elapsed == 0 ? 0 : std::min(1.0, use.busyPs / elapsed);
        ++dimension.links;
        dimension.wireBytes += use.wireBytes;
        dimension.maxQueueBytes = std::max(dimension.maxQueueBytes, use.maxQueueBytes);
        dimension.utilizationMean += share;
        dimension.utilizationMax = std::max(dimension.utilizationMax, share);
        if (use.wireBytes != 0)
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
MessageFabric::GetDeliveredBytes() const
{
    return m_statistics.payloadBytes;
}

std::string
MessageFabric::GetFailure() const
{
    return m_failure;
}

void
MessageFabric::SetPollHook(PollHook hook)
{
    m_poll = std::move(hook);
}

void
MessageFabric::SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent)
{
    Launch(Submit(src, dst, bytes, tag, false, std::move(sent)), Now());
}

void
MessageFabric::SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received)
{
    FindPath(src, dst);
    m_matcher.Post(src, dst, bytes, tag, std::move(received));
}

void
MessageFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag)
{
    Launch(Submit(src, dst, bytes, tag, true, {}), Now());
}

void
MessageFabric::SetArrivalHandler(ArrivalHandler* handler)
{
    m_handler = handler;
}

void
MessageFabric::SimSchedule(ns3::Time delay, Callback callback)
{
    ns3::Simulator::Schedule(delay, [callback = std::move(callback)] { callback(); });
}

ns3::Time
MessageFabric::SimGetTime() const
{
    return ns3::Simulator::Now() - m_start;
}

uint32_t
MessageFabric::SimCommSize() const
{
    return m_topology.ranks;
}

void
MessageFabric::SimFinish()
{
    m_isFinished = true;
    ns3::Simulator::Stop();
}

void
MessageFabric::OnServed(uint64_t /* now */)
{
}

uint32_t
MessageFabric::FindPath(Rank src, Rank dst) const
{
    const bool isThere = src < m_topology.ranks && dst < m_topology.ranks;
    const uint32_t path =
        isThere ? m_pathOf[static_cast<std::size_t>(src) * m_topology.ranks + dst] : NONE;
    if (path == NONE)
    {
        throw std::invalid_argument("there is no path from rank " + std::to_string(src) +
                                    " to rank " + std::to_string(dst));
    }
    return path;
}

uint32_t
MessageFabric::Submit(Rank src, Rank dst, uint64_t bytes, uint64_t tag, bool isPut, Callback sent)
{
    const uint32_t path = FindPath(src, dst);
    if (m_freeMessages.empty())
    {
        m_freeMessages.push_back(static_cast<uint32_t>(m_messages.size()));
        m_messages.emplace_back();
    }
    const uint32_t id = m_freeMessages.back();
    m_freeMessages.pop_back();
    const uint64_t payload = std::max<uint64_t>(bytes, 1);
    const uint64_t segment = m_settings.tcp.segmentBytes;
    const uint64_t packets = (payload + segment - 1) / segment;
    const uint64_t first = std::min(payload, segment);
    const uint64_t last = payload - (packets - 1) * segment;
    Message& message = m_messages[id];
    message.bytes = bytes;
    message.tag = tag;
    message.sentAt = Now();
    message.wireBytes = payload + packets * m_headerBytes;
    message.firstBytes = static_cast<uint32_t>(first) + m_headerBytes;
    message.lastBytes = static_cast<uint32_t>(last) + m_headerBytes;
    message.path = path;
    message.isPut = isPut;
    message.isAwaited = static_cast<bool>(sent);
    if (sent)
    {
        m_sent.emplace(id, std::move(sent));
    }
    m_usedPaths[path] = true;
    m_statistics.packets += packets;
    m_statistics.dataPackets += packets;
    m_statistics.wireBytes += message.wireBytes;
    return id;
}

void
MessageFabric::Plan(uint64_t at, uint32_t subject)
{
    m_due.Push(at, subject);
    if (!m_isServing)
    {
        Wake(at, Now());
    }
}

void
MessageFabric::RequestService(uint64_t now)
{
    if (!m_isServing)
    {
        Wake(now, now);
    }
}

void
MessageFabric::Wake(uint64_t at, uint64_t now)
{
    if (m_wakes.empty() || at < m_wakes.back())
    {
        m_wakes.push_back(at);
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(at - now)),
                                 &MessageFabric::Serve,
                                 this);
    }
}

void
MessageFabric::Serve()
{
    const uint64_t now = m_wakes.back();
    m_wakes.pop_back();
    m_isServing = true;
    while (m_due.GetFirstKey() == now && !m_isFinished)
    {
        OnDue(m_due.Pop(), now);
    }
    OnServed(now);
    m_isServing = false;
    if (m_due.GetFirstKey() != RadixQueue<uint32_t>::NEVER)
    {
        Wake(m_due.GetFirstKey(), now);
    }
}

void
MessageFabric::Deliver(uint32_t id, uint64_t now)
{
    const Message message = m_messages[id];
    const Rank src = m_topology.pathSource[message.path];
    const Rank dst = m_topology.pathTarget[message.path];
    m_completion.Add(now - message.sentAt);
    ++m_statistics.messages;
    m_statistics.payloadBytes += message.bytes;
    if (message.isAwaited)
    {
        const auto sent = m_sent.find(id);
        const uint64_t delay = AcknowledgementPs(message.path);
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(delay)),
                                 [callback = std::move(sent->second)] { callback(); });
        m_sent.erase(sent);
    }
    m_freeMessages.push_back(id);
    if (!message.isPut)
    {
        m_matcher.Arrive(src, dst, message.bytes, message.tag);
    }
    else if (m_handler != nullptr)
    {
        m_handler->OnArrival(src, dst, message.bytes, message.tag);
    }
    if (m_poll && m_statistics.messages % POLL_MESSAGES == 0)
    {
        m_poll();
    }
}

void
MessageFabric::Abandon(const Message& message)
{
    m_failure = "a message of " + std::to_string(message.bytes) + " bytes from rank " +
                std::to_string(m_topology.pathSource[message.path]) + " to rank " +
                std::to_string(m_topology.pathTarget[message.path]) +
                " takes longer than can be simulated";
    ns3::Simulator::Stop();
}

uint64_t
MessageFabric::TransmissionPs(uint64_t bytes, uint32_t link) const
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
MessageFabric::ForwardingPs(uint32_t hop) const
{
    const uint32_t node = m_topology.linkSource[m_topology.pathLinks[hop]];
    return node < m_topology.ranks ? m_topology.forwardingDelayPs : 0;
}

uint64_t
MessageFabric::AcknowledgementPs(uint32_t path) const
{
    const uint32_t back = FindPath(m_topology.pathTarget[path], m_topology.pathSource[path]);
    uint64_t sum = 0;
    for (uint32_t hop = m_topology.pathBegin[back]; hop < m_topology.pathBegin[back + 1]; ++hop)
    {
        const uint32_t link = m_topology.pathLinks[hop];
        sum = Later(sum, TransmissionPs(m_headerBytes, link));
        sum = Later(sum, m_topology.linkLatencyPs[link]);
        sum = Later(sum, hop == m_topology.pathBegin[back] ? 0 : ForwardingPs(hop));
    }
    return sum;
}

uint64_t
MessageFabric::Now() const
{
    return static_cast<uint64_t>(SimGetTime().GetTimeStep());
}

uint64_t
MessageFabric::Later(uint64_t a, uint64_t b)
{
    return std::min(a + b, 2 * MAX_TIME_PS);
}

} // namespace cosim
