/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "analytical-fabric.h"

#include "stream-validator.h"

#include <algorithm>

namespace cosim
{

namespace
{

__extension__ typedef unsigned __int128 Wide;

constexpr uint64_t BYTE_PS = 8'000'000'000'000; //!< one byte at 1 bit/s [ps]

} // namespace

AnalyticalFabric::AnalyticalFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_links(topology.linkSource.size())
{
}

void
AnalyticalFabric::Launch(uint32_t id, uint64_t now)
{
    Message& message = GetMessage(id);
    message.next = m_topology.pathBegin[message.path];
    message.lastAt = 0; // the whole message is there
    Cross(id, now);
}

void
AnalyticalFabric::OnDue(uint32_t id, uint64_t now)
{
    const Message& message = GetMessage(id);
    if (message.next == m_topology.pathBegin[message.path + 1])
    {
        Arrive(id);
    }
    else
    {
        Cross(id, now);
    }
}

void
AnalyticalFabric::Cross(uint32_t id, uint64_t now)
{
    Message& message = GetMessage(id);
    const uint32_t linkId = m_topology.pathLinks[message.next];
    Link& link = m_links[linkId];
    const uint64_t latency = m_topology.linkLatencyPs[linkId];
    const uint64_t start = std::max(now, link.freeAt);
    uint64_t end = Later(start, TransmissionPs(message.wireBytes, linkId));
    if (message.next != m_topology.pathBegin[message.path])
    {
        end = std::max(end, Later(message.lastAt, TransmissionPs(message.lastBytes, linkId)));
        link.maxWait = std::max(link.maxWait, start - now);
    }
    link.freeAt = end;
    link.busy += end - start;
    link.wireBytes += message.wireBytes;
    ++message.next;
    if (end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(message);
    }
    else if (message.next == m_topology.pathBegin[message.path + 1])
    {
        Plan(end + latency, id);
    }
    else
    {
        const uint64_t forwarding = ForwardingPs(message.next);
        message.lastAt = end + latency + forwarding;
        Plan(start + TransmissionPs(message.firstBytes, linkId) + latency + forwarding, id);
    }
}

std::vector<LinkCounters>
AnalyticalFabric::GetLinkCounters() const
{
    std::vector<LinkCounters> uses;
    uses.reserve(m_links.size());
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        const Link& link = m_links[i];
        const Wide queued = Wide{link.maxWait} * m_topology.linkRateBps[i] / BYTE_PS;
        LinkCounters& use = uses.emplace_back();
        use.busyPs = static_cast<int64_t>(std::min(link.busy, MAX_TIME_PS));
        use.wireBytes = link.wireBytes;
        use.maxQueueBytes = static_cast<uint64_t>(queued);
    }
    return uses;
}

std::unique_ptr<Fabric>
MakeAnalyticalFabric(const Topology& topology, const Settings& settings)
{
    return std::make_unique<AnalyticalFabric>(topology, settings);
}

} // namespace cosim
