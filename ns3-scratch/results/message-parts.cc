/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/message-parts.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Transmission time of one byte at 1 bit/s [ps].
constexpr uint64_t BYTE_PS = 8'000'000'000'000;

/// The longest time of a message [ps]; sums of many of them fit in 64 bits.
constexpr uint64_t LONGEST_PS = uint64_t{1} << 50;

uint64_t
Subtract(uint64_t a, uint64_t b)
{
    return a - std::min(a, b);
}

} // namespace

LinkLoads::LinkLoads(const LiveLinks& links, const PacketFormats& formats)
    : m_links(links),
      m_formats(formats)
{
}

/// @return how long a link transmits the packets of a message of this size [ps]
uint64_t
LinkLoads::GetTimePs(uint32_t link, uint64_t wireBytes) const
{
    return MultiplyDivideUp(wireBytes,
                            BYTE_PS,
                            std::max<uint64_t>(m_links.Get(link).rateBps, 1),
                            LONGEST_PS);
}

std::vector<LinkLoads::Mark>
LinkLoads::Look(Owner owner, uint32_t path)
{
    m_allPs.resize(m_links.GetCount());
    const std::span<const uint32_t> links = m_links.GetPath(path);
    std::vector<Mark> marks;
    marks.reserve(links.size());
    for (const uint32_t link : links)
    {
        const uint64_t* own = m_ownPs.Find({owner, link});
        marks.push_back({link, own == nullptr ? 0 : *own, m_allPs[link]});
    }
    return marks;
}

void
LinkLoads::Add(uint32_t path, uint64_t bytes)
{
    m_allPs.resize(m_links.GetCount());
    const uint64_t wireBytes = m_formats.Get(path).GetWireBytes(bytes);
    for (const uint32_t link : m_links.GetPath(path))
    {
        m_allPs[link] += GetTimePs(link, wireBytes);
    }
}

LinkLoads::Load
LinkLoads::Deliver(Owner owner, uint32_t path, std::span<const Mark> marks, uint64_t bytes)
{
    const uint64_t wireBytes = m_formats.Get(path).GetWireBytes(bytes);
    Load busiest{0, 0};
    for (const Mark& mark : marks)
    {
        const uint64_t itselfPs = GetTimePs(mark.link, wireBytes);
        uint64_t& ownPs = m_ownPs[{owner, mark.link}];
        const uint64_t own = ownPs - mark.ownPs;
        const uint64_t all = Subtract(m_allPs[mark.link] - mark.allPs, itselfPs);
        const Load load{own, Subtract(all, own)};
        if (load.ownPs + load.othersPs > busiest.ownPs + busiest.othersPs)
        {
            busiest = load;
        }
        ownPs += itselfPs;
    }
    return busiest;
}

MessageParts::MessageParts(const Topology& topology,
                           const Settings& settings,
                           const LiveLinks& links)
    : m_system(settings.system),
      m_formats(topology, settings),
      m_flowsPerPair(std::max(settings.system.flowsPerPair, 1U)),
      m_links(links),
      m_ideal(topology, m_formats),
      m_loads(links, m_formats),
      m_paths(topology),
      m_flows(topology.pathSource.size())
{
}

void
MessageParts::OnTimeout(const FlowEvent& event, uint64_t waitedPs)
{
    Flow& flow = m_flows[m_paths.Find(event.src, event.dst, event.route)];
    // The timer may have been started before an earlier repair ended.
    const uint64_t since =
        std::max(flow.repairedAtPs, event.timePs - std::min(event.timePs, waitedPs));
    flow.repairPs += event.timePs - since;
    flow.repairedAtPs = event.timePs;
}

void
MessageParts::OnRetransmission(const FlowEvent& event)
{
    const uint32_t path = m_paths.Find(event.src, event.dst, event.route);
    const IdealTimes packet = m_ideal.Get(m_links, path, m_formats.Get(path).payloadBytes);
    const uint64_t trip = packet.Sum() + packet.propagationPs;
    Flow& flow = m_flows[path];
    if (flow.repairedAtPs == 0 || event.timePs >= flow.repairedAtPs + trip)
    { // the packets of one window are repaired together
        flow.repairPs += trip;
        flow.repairedAtPs = event.timePs;
    }
}

void
MessageParts::OnPaused(const PortPauseEvent& event)
{
    m_stops.resize(m_links.GetCount());
    PortStop& stop = m_stops[event.link];
    if (stop.classes++ == 0)
    {
        stop.sincePs = event.timePs;
    }
}

void
MessageParts::OnResumed(const PortPauseEvent& event)
{
    PortStop& stop = m_stops[event.link];
    if (--stop.classes == 0)
    {
        stop.sumPs += event.timePs - stop.sincePs;
    }
}

/// @return how long the port of a link was paused until now [ps]
uint64_t
MessageParts::GetPausedPs(uint32_t link, uint64_t nowPs) const
{
    if (link >= m_stops.size())
    {
        return 0;
    }
    const PortStop& stop = m_stops[link];
    return stop.sumPs + (stop.classes > 0 ? Subtract(nowPs, stop.sincePs) : 0);
}

void
MessageParts::OnDelivered(const MessageEvent& event)
{
    m_loads.Add(m_paths.Find(event.src, event.dst, event.route), event.bytes);
}

void
MessageParts::Mark(SentMessage& message)
{
    message.repairPs = GetRepairPs(message.src, message.dst, message.route);
    const uint32_t path = m_paths.Find(message.src, message.dst, message.route * m_flowsPerPair);
    message.marks = m_loads.Look(message.owner, path);
    for (LinkLoads::Mark& mark : message.marks)
    {
        mark.pausedPs = GetPausedPs(mark.link, message.sentPs);
    }
}

/// @return the time for which the flows of a route have repaired losses so far [ps]
uint64_t
MessageParts::GetRepairPs(Rank src, Rank dst, uint32_t route) const
{
    const uint32_t first = m_paths.Find(src, dst, route * m_flowsPerPair);
    uint64_t longest = 0;
    for (uint32_t path = first; path < first + m_flowsPerPair; ++path)
    {
        longest = std::max(longest, m_flows[path].repairPs);
    }
    return longest;
}

uint64_t
MessageParts::GetHostPs(const HostCost& cost, uint64_t bytes) const
{
    constexpr uint64_t psPerS = 1'000'000'000'000;
    return cost.messagePs +
           (cost.bytesPerS == 0 ? 0 : MultiplyDivideUp(bytes, psPerS, cost.bytesPerS, MAX_TIME_PS));
}

std::array<MessagePart, 7>
MessageParts::Divide(const SentMessage& message, uint64_t nowPs)
{
    uint64_t left = nowPs - message.sentPs;
    const auto take = [&left](uint64_t part) {
        part = std::min(part, left);
        left -= part;
        return part;
    };
    // the largest part, if several flows share the message
    const uint64_t bytes = (message.bytes + m_flowsPerPair - 1) / m_flowsPerPair;
    const uint32_t path = m_paths.Find(message.src, message.dst, message.route * m_flowsPerPair);
    const IdealTimes ideal = m_ideal.Get(m_links, path, bytes);
    const uint64_t propagation = take(ideal.propagationPs);
    uint64_t serialization = take(ideal.serializationPs);
    const uint64_t host =
        take(GetHostPs(m_system.send, bytes) + GetHostPs(m_system.receive, bytes));
    const uint64_t retransmission =
        take(GetRepairPs(message.src, message.dst, message.route) - message.repairPs);
    const LinkLoads::Load load = m_loads.Deliver(message.owner, path, message.marks, message.bytes);
    serialization += take(load.ownPs);
    const uint64_t queueing = take(load.othersPs);
    uint64_t longestPs = 0;
    for (const LinkLoads::Mark& mark : message.marks)
    {
        longestPs = std::max(longestPs, Subtract(GetPausedPs(mark.link, nowPs), mark.pausedPs));
    }
    // While the busiest link of the path is busy, a pause costs nothing.
    const uint64_t paused = take(Subtract(longestPs, serialization + queueing));
    return {{{PathKind::HOST, host},
             {PathKind::WINDOW, left},
             {PathKind::PAUSED, paused},
             {PathKind::QUEUEING, queueing},
             {PathKind::RETRANSMISSION, retransmission},
             {PathKind::SERIALIZATION, serialization},
             {PathKind::PROPAGATION, propagation}}};
}

} // namespace cosim
