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
      m_stalls(*this),
      m_windows(*this),
      m_links(topology.linkSource.size())
{
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
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
    const uint64_t end = link.queue.Expect({message.arrival,
                                            link.transmission,
                                            Later(message.lastByte, link.lastTransmission),
                                            0,
                                            message.sentAt,
                                            message.bundle,
                                            message.path},
                                           now,
                                           GetPostpone(latency));
    if (end == AnalyticalLink::REFUSED)
    {
        return false;
    }
    if (IsFolded() && link.queue.IsTied())
    {
        EndAmbiguous();
    }
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, message.path);
    }
    else
    {
        Place(message.bundle, {message.path, size.bytes, message.sentAt, end + latency});
    }
    return true;
}

/// Enter a message on its first link.
inline void
AnalyticalFabric::Enter(const Cargo& cargo, uint64_t sentAt, uint64_t at, uint64_t now)
{
    const uint32_t hop = m_topology.pathBegin[cargo.path];
    const uint32_t linkId = m_topology.pathLinks[hop];
    const uint64_t wireBytes = cargo.size.wireBytes;
    Link& link = Measure(linkId, cargo.size);
    const uint64_t stall = m_stalls.Get(cargo.path, wireBytes, at);
    // Other messages can use the link during a stall, but none of this path can overtake.
    const uint64_t pause = hop + 1 == m_topology.pathBegin[cargo.path + 1] ? stall : 0;
    const AnalyticalLink::Passage passage =
        link.queue.Settle(at, link.transmission + pause, 0, GetPostpone(link.latency));
    m_windows.Enter(linkId, cargo.path, wireBytes, at, passage.start, passage.end);
    Leave({sentAt, at, 0, cargo.path, hop, cargo.bundle}, cargo.size, link, passage, stall, now);
}

/**
 * Enter a message on a link that is not its first one, after all messages that have arrived there,
 * and forward it.
 */
inline void
AnalyticalFabric::Settle(const MessageInTransit& message, const WireSize& size, uint64_t now)
{
    Link& link = Measure(m_topology.pathLinks[message.hop], size);
    const uint64_t earliest = Later(message.lastByte, link.lastTransmission);
    const AnalyticalLink::Passage passage =
        link.isPassedThrough
            ? link.queue.Pass(message.arrival, message.lastByte, link.transmission, earliest)
            : link.queue.Settle(message.arrival,
                                link.transmission,
                                earliest,
                                GetPostpone(link.latency));
    link.longestWait = std::max(link.longestWait, passage.start - message.arrival);
    if (IsFolded())
    {
        if (link.lastArrival == message.arrival && link.lastBundle != message.bundle)
        {
            EndAmbiguous();
        }
        link.lastArrival = message.arrival;
        link.lastBundle = message.bundle;
    }
    Leave(message, size, link, passage, 0, now);
}

/**
 * Forward a message that has entered a link to the next one, or to its target.
 *
 * @param stall time by which its last byte arrives later [ps]
 */
[[gnu::always_inline]] inline void
AnalyticalFabric::Leave(MessageInTransit message,
                        const WireSize& size,
                        Link& link,
                        const AnalyticalLink::Passage& passage,
                        uint64_t stall,
                        uint64_t now)
{
    const uint64_t latency = link.latency;
    link.busy += link.transmission;
    link.wireBytes += size.wireBytes;
    if (passage.end >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(size.bytes, message.path);
        return;
    }
    if (++message.hop == m_topology.pathBegin[message.path + 1])
    {
        Place(message.bundle, {message.path, size.bytes, message.sentAt, passage.end + latency});
        return;
    }
    const Link& next = m_links[m_topology.pathLinks[message.hop]];
    const uint64_t delay = latency + next.forwarding;
    message.arrival = Later(passage.start, link.firstTransmission + delay);
    message.lastByte = Later(passage.end + stall, delay);
    if (next.isPassedThrough || !Expect(message, size, now))
    {
        Keep(message, size);
    }
}

void
AnalyticalFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    m_stalls.Announce(cargo, at);
    uint32_t batch = NONE;
    for (const Cargo& one : cargo)
    {
        if (m_windows.Admit(GetFirstLink(one.path), one, at, now))
        {
            Enter(one, at, at, now);
        }
        else if (at == now)
        {
            m_windows.Hold(GetFirstLink(one.path), one, now);
        }
        else
        {
            LaunchLater(one, at, batch);
        }
    }
}

/// Launch a message when it is sent, with others of the same time.
void
AnalyticalFabric::LaunchLater(const Cargo& cargo, uint64_t at, uint32_t& batch)
{
    if (batch == NONE)
    {
        batch = m_later.Take();
        m_later[batch].clear();
        Plan(at, batch | LATER);
    }
    m_later[batch].push_back(cargo);
    m_windows.Await(GetFirstLink(cargo.path));
}

/// Launch messages that are sent now.
void
AnalyticalFabric::LaunchBatch(uint32_t id, uint64_t now)
{
    for (const Cargo& cargo : m_later[id])
    {
        const uint32_t link = GetFirstLink(cargo.path);
        m_windows.Resume(link);
        if (m_windows.Admit(link, cargo, now, now))
        {
            Enter(cargo, now, now, now);
        }
        else
        {
            m_windows.Hold(link, cargo, now);
        }
    }
    m_later.Return(id);
}

/// Enter what a window has room for.
void
AnalyticalFabric::ReleaseHeld(uint32_t path, uint64_t now)
{
    while (const std::optional<SendWindows::Sending> sending = m_windows.Release(path, now))
    {
        Enter(sending->cargo, sending->sentAt, now, now);
    }
}

void
AnalyticalFabric::OnDue(uint32_t id, uint64_t now)
{
    if ((id & SendWindows::SUBJECT) != 0)
    {
        ReleaseHeld(id & ~SendWindows::SUBJECT, now);
        return;
    }
    if ((id & LATER) != 0)
    {
        LaunchBatch(id & ~LATER, now);
        return;
    }
    const Kept kept = m_inTransit[id];
    m_inTransit.Return(id);
    Settle(kept.message, kept.size, now);
}

/// Store a message until it arrives at its next link.
void
AnalyticalFabric::Keep(const MessageInTransit& message, const WireSize& size)
{
    const uint32_t id = m_inTransit.Take();
    m_inTransit[id] = {message, size};
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
AnalyticalFabric::CountLinks() const
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
