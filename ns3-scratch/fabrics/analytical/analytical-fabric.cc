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
    : WindowedFabric(topology, settings),
      m_links(topology.linkSource.size())
{
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        m_links[i].queue.SetPast(m_pastPs);
        m_links[i].latency = topology.linkLatencyPs[i];
        m_links[i].forwarding =
            topology.linkSource[i] < topology.ranks ? topology.forwardingDelayPs : 0;
    }
    for (std::size_t path = 0; path < topology.pathSource.size(); ++path)
    {
        for (uint32_t hop = topology.pathBegin[path]; hop + 1 < topology.pathBegin[path + 1]; ++hop)
        {
            m_links[topology.pathLinks[hop]].isPassedThrough = true;
        }
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
 * Enter a message early on the last link of its path, which must be the last one of all its paths.
 *
 * @return false if too many messages are expected after it
 */
inline bool
AnalyticalFabric::Expect(const MessageInTransit& message, const WireSize& size, uint64_t now)
{
    Link& link = Measure(m_topology.pathLinks[message.hop], size);
    const uint64_t latency = link.latency;
    AnalyticalLink::Visit visit{message.arrival,
                                link.transmission,
                                Later(message.lastByte, link.lastTransmission),
                                0,
                                message.sentAt,
                                message.bundle,
                                message.path};
    if (!link.queue.Expect(visit,
                           now,
                           [this, latency](const AnalyticalLink::Visit& moved, uint64_t before) {
                               Delay(moved, before, latency);
                           }))
    {
        return false;
    }
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (visit.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, message.path);
    }
    else
    {
        Deliver(message, size, visit.end + latency, link.transmission);
    }
    return true;
}

/**
 * Enter a message on the next link of its path, after all messages that have arrived there, and
 * forward it.
 */
inline void
AnalyticalFabric::Settle(MessageInTransit& message, const WireSize& size, uint64_t now)
{
    Link& link = Measure(m_topology.pathLinks[message.hop], size);
    const uint64_t latency = link.latency;
    const bool isFirst = message.hop == m_topology.pathBegin[message.path];
    const uint32_t end = m_topology.pathBegin[message.path + 1];
    const AnalyticalLink::Passage passage =
        link.queue.Settle(message.arrival,
                          link.transmission,
                          isFirst ? 0 : Later(message.lastByte, link.lastTransmission),
                          [this, latency](const AnalyticalLink::Visit& moved, uint64_t before) {
                              Delay(moved, before, latency);
                          });
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (!isFirst)
    {
        link.longestWait = std::max(link.longestWait, passage.start - message.arrival);
    }
    if (passage.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, message.path);
        return;
    }
    if (++message.hop == end)
    {
        Deliver(message, size, passage.end + latency, link.transmission);
        return;
    }
    const Link& next = m_links[m_topology.pathLinks[message.hop]];
    const uint64_t delay = latency + next.forwarding;
    message.arrival = Later(passage.start, link.firstTransmission + delay);
    message.lastByte = Later(passage.end, delay);
    if (next.isPassedThrough || !Expect(message, size, now))
    {
        Keep(message, size);
    }
}

/// Set the arrival time of a message, or of a part of one.
inline void
AnalyticalFabric::Deliver(const MessageInTransit& message,
                          const WireSize& size,
                          uint64_t arrival,
                          uint64_t transmission)
{
    if (message.bundle != NONE)
    {
        Place(message.bundle, {message.path, size.bytes, message.sentAt, arrival});
    }
    m_windows.Place(message.path, arrival, transmission);
}

/// Set a later arrival time of a message that moves back on its last link.
inline void
AnalyticalFabric::Delay(const AnalyticalLink::Visit& moved, uint64_t before, uint64_t latency)
{
    if (moved.bundle != NONE)
    {
        Postpone(moved.bundle, moved.path, moved.sentAt, before + latency, moved.end + latency);
    }
    m_windows.Postpone(moved.path, before + latency, moved.end + latency);
}

uint64_t
AnalyticalFabric::GetFreePs(uint32_t link, uint64_t at)
{
    return m_links[link].queue.GetFree(at, GetWindowPs(link));
}

void
AnalyticalFabric::Enter(const Cargo& cargo, uint64_t sentAt, uint64_t at, uint64_t now)
{
    MessageInTransit message;
    message.sentAt = sentAt;
    message.arrival = at;
    message.lastByte = 0; // the whole message has arrived
    message.path = cargo.path;
    message.hop = m_topology.pathBegin[cargo.path];
    message.bundle = cargo.bundle;
    Settle(message, cargo.size, now);
}

void
AnalyticalFabric::PrepareLaunch(std::span<const Cargo> cargo) const
{
    constexpr std::size_t FIRST = 8;
    constexpr std::size_t SECOND = 4;
    const auto getLast = [this](const Cargo& one) -> const Link& {
        return m_links[m_topology.pathLinks[m_topology.pathBegin[one.path + 1] - 1]];
    };
    if (cargo.size() > FIRST)
    {
        __builtin_prefetch(&getLast(cargo[FIRST]));
        m_flowRecord.Prepare(cargo[FIRST].path);
        m_windows.Prepare(cargo[FIRST].path);
    }
    if (cargo.size() > SECOND)
    {
        getLast(cargo[SECOND]).queue.Prepare();
        PrepareBundle(cargo[SECOND].bundle);
    }
}

void
AnalyticalFabric::OnArrival(uint32_t id, uint64_t now)
{
    MessageInTransit message = m_inTransit[id];
    m_inTransit.Return(id);
    Settle(message, m_inTransit[id].size, now);
}

void
AnalyticalFabric::PrepareFirst(uint32_t id) const
{
    if (id >= END_OF_SUBJECTS)
    {
        return;
    }
    const char* const slot = reinterpret_cast<const char*>(&m_inTransit[id]);
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + sizeof(MessageInTransit) - 1); // it can lie on two cache lines
}

void
AnalyticalFabric::PrepareSecond(uint32_t id) const
{
    if (id >= END_OF_SUBJECTS)
    {
        return;
    }
    const MessageInTransit& message = m_inTransit[id];
    __builtin_prefetch(&m_topology.pathLinks[message.hop]);
    __builtin_prefetch(&m_topology.pathBegin[message.path]);
    __builtin_prefetch(&m_topology.pathBegin[message.path + 1]);
}

/// Store a message until it arrives at its next link.
void
AnalyticalFabric::Keep(const MessageInTransit& message, const WireSize& size)
{
    const WireSize kept = size; // copied, because the parameter may refer to that slot
    const uint32_t id = m_inTransit.Take();
    m_inTransit[id] = message;
    m_inTransit[id].size = kept;
    Plan(message.arrival, id);
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
AnalyticalFabric::GetLinks() const
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
