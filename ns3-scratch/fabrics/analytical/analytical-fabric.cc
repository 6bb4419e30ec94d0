/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/analytical-fabric.h"

#include "stream/stream-validator.h"
#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

AnalyticalFabric::AnalyticalFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_links(topology.linkSource.size())
{
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        m_links[i].latency = topology.linkLatencyPs[i];
        m_links[i].forwarding =
            topology.linkSource[i] < topology.ranks ? topology.forwardingDelayPs : 0;
    }
}

/// @return the link, with the transmission times for messages of this size
inline AnalyticalFabric::Link&
AnalyticalFabric::Measure(uint32_t linkId, const WireSize& size)
{
    if (m_links[linkId].sizeBytes != size.wireBytes)
    {
        MeasureAnew(linkId, size);
    }
    return m_links[linkId];
}

/**
 * Enter a message early on the last link of its path.
 *
 * @return false if too many messages are expected after it
 */
inline bool
AnalyticalFabric::Expect(const Traveller& traveller, const WireSize& size, uint64_t now)
{
    Link& link = Measure(m_topology.pathLinks[traveller.hop], size);
    const uint64_t latency = link.latency;
    AnalyticalLink::Visit visit{traveller.arrival,
                                link.transmission,
                                Later(traveller.lastByte, link.lastTransmission),
                                0,
                                traveller.sentAt,
                                traveller.bundle,
                                traveller.path};
    if (!link.queue.Expect(visit,
                           now,
                           [this, latency](const AnalyticalLink::Visit& moved, uint64_t before) {
                               Postpone(moved.bundle,
                                        moved.path,
                                        moved.sentAt,
                                        before + latency,
                                        moved.end + latency);
                           }))
    {
        return false;
    }
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (visit.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, traveller.path);
    }
    else
    {
        Place(traveller.bundle,
              {traveller.path, size.bytes, traveller.sentAt, visit.end + latency});
    }
    return true;
}

/**
 * Enter a message on the next link of its path, after all messages that have arrived there, and
 * forward it.
 */
inline void
AnalyticalFabric::Settle(Traveller& traveller, const WireSize& size, uint64_t now)
{
    Link& link = Measure(m_topology.pathLinks[traveller.hop], size);
    const uint64_t latency = link.latency;
    const bool isFirst = traveller.hop == m_topology.pathBegin[traveller.path];
    const AnalyticalLink::Passage passage = link.queue.Settle(
        traveller.arrival,
        link.transmission,
        isFirst ? 0 : Later(traveller.lastByte, link.lastTransmission),
        [this, latency](const AnalyticalLink::Visit& moved, uint64_t before) {
            Postpone(moved.bundle, moved.path, moved.sentAt, before + latency, moved.end + latency);
        });
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (!isFirst)
    {
        link.longestWait = std::max(link.longestWait, passage.start - traveller.arrival);
    }
    if (passage.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, traveller.path);
        return;
    }
    const uint32_t end = m_topology.pathBegin[traveller.path + 1];
    if (++traveller.hop == end)
    {
        Place(traveller.bundle,
              {traveller.path, size.bytes, traveller.sentAt, passage.end + latency});
        return;
    }
    const uint64_t delay = latency + m_links[m_topology.pathLinks[traveller.hop]].forwarding;
    traveller.arrival = Later(passage.start, link.firstTransmission + delay);
    traveller.lastByte = Later(passage.end, delay);
    if (traveller.hop + 1 != end || !Expect(traveller, size, now))
    {
        Keep(traveller, size);
    }
}

void
AnalyticalFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    for (const Cargo& one : cargo)
    {
        Traveller traveller;
        traveller.sentAt = traveller.arrival = at;
        traveller.lastByte = 0; // the whole message has arrived
        traveller.path = one.path;
        traveller.hop = m_topology.pathBegin[one.path];
        traveller.bundle = one.bundle;
        Settle(traveller, one.size, now);
    }
}

void
AnalyticalFabric::OnDue(uint32_t id, uint64_t now)
{
    Traveller traveller = m_travellers[id];
    m_travellers.Return(id);
    Settle(traveller, m_travellers[id].size, now);
}

/// Store a message until it arrives at its next link.
void
AnalyticalFabric::Keep(const Traveller& traveller, const WireSize& size)
{
    const WireSize kept = size; // copied, because the parameter may refer to that slot
    const uint32_t id = m_travellers.Take();
    m_travellers[id] = traveller;
    m_travellers[id].size = kept;
    Plan(traveller.arrival, id);
}

void
AnalyticalFabric::MeasureAnew(uint32_t linkId, const WireSize& size)
{
    Link& link = m_links[linkId];
    link.sizeBytes = size.wireBytes;
    link.transmission = TransmissionPs(size.wireBytes, linkId);
    link.firstTransmission = TransmissionPs(size.firstBytes, linkId);
    link.lastTransmission = TransmissionPs(size.lastBytes, linkId);
}

std::vector<LinkCounters>
AnalyticalFabric::GetLinkCounters() const
{
    std::vector<LinkCounters> uses;
    uses.reserve(m_links.size());
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        const Link& link = m_links[i];
        const uint64_t wait = std::max(link.longestWait, link.queue.GetLongestWait());
        LinkCounters& use = uses.emplace_back();
        use.busyPs = static_cast<int64_t>(std::min(link.busy, MAX_TIME_PS));
        use.wireBytes = link.wireBytes;
        use.maxQueueBytes = MultiplyDivide(wait, m_topology.linkRateBps[i], BYTE_PS);
    }
    return uses;
}

} // namespace cosim
