/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of FlowFabric for the messages that travel hop by hop.

#include "fabrics/flow/flow-fabric.h"
#include "stream/stream-validator.h"

#include <algorithm>
#include <utility>

namespace cosim
{

/**
 * Let a message travel hop by hop if it is short: if its path begins with a window that does not
 * fill the path, has no other message to send, and the rest of the window holds the message.
 *
 * @param id a message of m_paths
 * @return false if the message is not short
 */
bool
FlowFabric::TakeHops(uint32_t id, uint64_t now)
{
    const FlowStreams::Message& message = m_paths.Get(id);
    Path& path = m_paths[message.path];
    const auto wireBytes = static_cast<double>(message.wireBytes);
    if (path.opening == NONE || path.first != NONE || path.isPaused || wireBytes > path.windowLeft)
    {
        return false;
    }
    path.windowLeft -= wireBytes;
    FlowHops::Message hopping;
    hopping.bytes = message.bytes;
    hopping.wireBytes = message.wireBytes;
    hopping.sentAt = message.sentAt;
    hopping.reachesAt = now;
    hopping.firstBytes = message.firstBytes;
    hopping.path = message.path;
    hopping.bundle = message.bundle;
    m_paths.Remove(id);
    const uint32_t added = m_hops.Add(hopping);
    Follow(added);
    EnterLink(added, now);
    return true;
}

/// Append a message to those of its path that are delivered in order.
void
FlowFabric::Follow(uint32_t id)
{
    Path& path = m_paths[m_hops[id].path];
    (path.firstUnderWay == NONE ? path.firstUnderWay : m_hops[path.lastUnderWay].next) = id;
    path.lastUnderWay = id;
}

/**
 * Deliver a message that has left its stream after those of its path that travel hop by hop.
 *
 * @param message the message
 * @param arrivesAt its arrival, if these have arrived in time [ps]
 * @param afterPs the time by which it follows them at least [ps]
 */
void
FlowFabric::FollowHops(const FlowStreams::Message& message, uint64_t arrivesAt, uint64_t afterPs)
{
    FlowHops::Message after;
    after.bytes = message.bytes;
    after.sentAt = message.sentAt;
    after.arrivesAt = arrivesAt;
    after.afterPs = afterPs;
    after.path = message.path;
    after.bundle = message.bundle;
    Follow(m_hops.Add(after));
}

/// Handle the arrival of a message's first packet at its next link.
void
FlowFabric::OnHop(uint32_t id, uint64_t now)
{
    FlowHops::Message& message = m_hops[id];
    message.isPlanned = false;
    if (message.path == NONE)
    {
        m_hops.Remove(id);
    }
    else if (message.arrivesAt == FlowHops::NEVER)
    {
        EnterLink(id, now);
    }
}

/// Let a message enter the queue of its next link, and plan what follows.
void
FlowFabric::EnterLink(uint32_t id, uint64_t now)
{
    PassLink(id, now);
    FlowHops::Message& message = m_hops[id];
    if (message.arrivesAt == FlowHops::NEVER)
    {
        message.isPlanned = true;
        Plan(message.reachesAt, id + GetFirstHopSubject());
    }
    else
    {
        Deliver(message.path);
    }
}

/// Let a message enter the queue of its next link, and compute when it is at the end of the link.
void
FlowFabric::PassLink(uint32_t id, uint64_t now)
{
    FlowHops::Message& message = m_hops[id];
    const std::span<const uint32_t> links = m_liveLinks.GetPath(message.path);
    const uint32_t link = links[message.hop];
    const uint64_t busyPs = TransmissionPs(message.wireBytes, link);
    const FlowHops::Passage passage =
        m_hops.Enter(message, link, busyPs, TransmissionPs(message.firstBytes, link));
    StallStreams(link, busyPs, now);
    const uint64_t latency = m_liveLinks.Get(link).latencyPs;
    if (passage.last >= 2 * MAX_TIME_PS - latency)
    {
        Abandon(message.bytes, message.path);
        message.arrivesAt = now;
    }
    else if (++message.hop == links.size())
    {
        message.arrivesAt = passage.last + latency;
    }
    else
    {
        message.reachesAt = Later(passage.first, latency + ForwardingPs(links[message.hop]));
    }
}

/// Let the streams that share a full link wait while the link sends a message between theirs.
void
FlowFabric::StallStreams(uint32_t link, uint64_t busyPs, uint64_t now)
{
    m_solver.ForEachLimited(m_solverLinks[link], [this, busyPs, now](uint32_t id) {
        FlowStreams::Advance(m_paths[id], now);
        m_paths[id].updatedAt = Later(m_paths[id].updatedAt, busyPs);
    });
}

/// @return the time at which the messages that now wait at the links of a path are gone [ps]
uint64_t
FlowFabric::GetEmptyAt(uint32_t path) const
{
    uint64_t at = 0;
    for (const uint32_t link : m_liveLinks.GetPath(path))
    {
        at = std::max(at, m_hops.GetEmptyAt(link));
    }
    return at;
}

/// Place the messages of a path whose arrival is known, in the order in which they were sent.
void
FlowFabric::Deliver(uint32_t id)
{
    Path& path = m_paths[id];
    while (path.firstUnderWay != NONE && m_hops[path.firstUnderWay].arrivesAt != FlowHops::NEVER)
    {
        const uint32_t first = path.firstUnderWay;
        FlowHops::Message& message = m_hops[first];
        path.firstUnderWay = message.next;
        path.lastArrival = std::max(Later(path.lastArrival, message.afterPs), message.arrivesAt);
        path.carried += message.wireBytes;
        Place(message.bundle, {id, message.bytes, message.sentAt, path.lastArrival});
        message.path = NONE;
        if (!message.isPlanned)
        {
            m_hops.Remove(first);
        }
    }
}

/// Let the messages of a path that travel hop by hop reach their target over its present links.
void
FlowFabric::FinishHops(uint32_t id, uint64_t now)
{
    for (uint32_t i = m_paths[id].firstUnderWay; i != NONE; i = m_hops[i].next)
    {
        while (m_hops[i].arrivesAt == FlowHops::NEVER)
        {
            PassLink(i, now);
        }
    }
    Deliver(id);
}

} // namespace cosim
