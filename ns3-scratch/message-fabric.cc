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
    : FabricBase(topology, settings),
      m_headerBytes(IPV4_HEADER_BYTES + TCP_HEADER_BYTES + settings.tcp.linkHeaderBytes +
                    (settings.tcp.timestamps ? TIMESTAMP_OPTION_BYTES : 0)),
      m_usedPaths(topology.pathSource.size())
{
}

void
MessageFabric::Start()
{
    StartClock();
}

NetworkStatistics
MessageFabric::GetStatistics() const
{
    NetworkStatistics result = GetMessageStatistics();
    result.flows = static_cast<uint64_t>(std::count(m_usedPaths.begin(), m_usedPaths.end(), true));
    LinkSummary summary(m_topology, GetElapsedPs(), result);
    const std::vector<LinkCounters> counters = GetLinkCounters();
    for (uint32_t link = 0; link < counters.size(); ++link)
    {
        summary.Add(link, counters[link]);
    }
    summary.Finish();
    return result;
}

void
MessageFabric::SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent)
{
    Launch(Submit(FindPath(src, dst), bytes, tag, false, std::move(sent)), Now());
}

void
MessageFabric::SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route)
{
    Launch(Submit(FindPath(src, dst, route), bytes, tag, true, {}), Now());
}

void
MessageFabric::SimFinish()
{
    m_isFinished = true;
    FabricBase::SimFinish();
}

void
MessageFabric::OnServed(uint64_t /* now */)
{
}

uint32_t
MessageFabric::Submit(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, Callback sent)
{
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
    m_counters.packets += packets;
    m_counters.dataPackets += packets;
    m_counters.wireBytes += message.wireBytes;
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
MessageFabric::Arrive(uint32_t id)
{
    const Message message = m_messages[id];
    if (message.isAwaited)
    {
        const auto sent = m_sent.find(id);
        const uint64_t delay = AcknowledgementPs(message.path);
        ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(delay)),
                                 [callback = std::move(sent->second)] { callback(); });
        m_sent.erase(sent);
    }
    m_freeMessages.push_back(id);
    Deliver(m_topology.pathSource[message.path],
            m_topology.pathTarget[message.path],
            message.bytes,
            message.tag,
            message.isPut,
            static_cast<int64_t>(message.sentAt));
    if (m_pollHook && m_counters.messages % POLL_MESSAGES == 0)
    {
        m_pollHook();
    }
}

void
MessageFabric::Abandon(const Message& message)
{
    Fail("a message of " + std::to_string(message.bytes) + " bytes from rank " +
         std::to_string(m_topology.pathSource[message.path]) + " to rank " +
         std::to_string(m_topology.pathTarget[message.path]) +
         " takes longer than can be simulated");
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
    return static_cast<uint64_t>(NowPs());
}

uint64_t
MessageFabric::Later(uint64_t a, uint64_t b)
{
    return std::min(a + b, 2 * MAX_TIME_PS);
}

} // namespace cosim
