/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/message-parts.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

MessageParts::MessageParts(const Topology& topology,
                           const Settings& settings,
                           const LiveLinks& links)
    : m_system(settings.system),
      m_format(GetPacketFormat(settings)),
      m_flowsPerPair(std::max(settings.system.flowsPerPair, 1U)),
      m_links(links),
      m_ideal(topology, m_format),
      m_loads(links, m_format),
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
    const IdealTimes packet = m_ideal.Get(m_links, m_links.GetPath(path), m_format.payloadBytes);
    const uint64_t trip = packet.Sum() + packet.propagationPs;
    Flow& flow = m_flows[path];
    if (flow.repairedAtPs == 0 || event.timePs >= flow.repairedAtPs + trip)
    { // the packets of one window are repaired together
        flow.repairPs += trip;
        flow.repairedAtPs = event.timePs;
    }
}

void
MessageParts::OnDelivered(const MessageEvent& event)
{
    m_loads.Add(m_links.GetPath(m_paths.Find(event.src, event.dst, event.route)), event.bytes);
}

void
MessageParts::Mark(SentMessage& message)
{
    message.repairPs = GetRepairPs(message.src, message.dst, message.route);
    const uint32_t path = m_paths.Find(message.src, message.dst, message.route * m_flowsPerPair);
    message.marks = m_loads.Look(message.owner, m_links.GetPath(path));
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

MessageTimes
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
    const IdealTimes ideal = m_ideal.Get(m_links, m_links.GetPath(path), bytes);
    MessageTimes times{};
    times.propagation = take(ideal.propagationPs);
    times.serialization = take(ideal.serializationPs);
    times.host = take(GetHostPs(m_system.send, bytes) + GetHostPs(m_system.receive, bytes));
    times.retransmission =
        take(GetRepairPs(message.src, message.dst, message.route) - message.repairPs);
    const LinkLoads::Load load = m_loads.Deliver(message.owner, message.marks, message.bytes);
    times.serialization += take(load.ownPs);
    times.queueing = take(load.othersPs);
    times.window = left;
    return times;
}

} // namespace cosim
