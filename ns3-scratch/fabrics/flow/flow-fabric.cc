/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-fabric.h"

#include "stream/stream-validator.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace cosim
{

namespace
{

/// A smaller remainder of a message is the result of rounding and counts as nothing [bytes].
constexpr double NOTHING = 1e-3;

/**
 * A time that exceeds a whole number by at most this much is that number with a rounding error
 * [ps].
 */
constexpr double ROUNDING_PS = 1e-3;

/// The subject of the event at which delayed messages are sent.
constexpr uint32_t DELAYED = (uint32_t{1} << 31) - 1;

/// The longest delay that a double represents and the clock can hold [ps].
constexpr auto LONGEST_PS = static_cast<double>(MAX_TIME_PS);

/// @return for each path, its traffic class; 0 is the highest one; empty if there are no classes
std::vector<uint8_t>
ListClasses(const Topology& topology)
{
    std::vector<uint8_t> classes;
    if (topology.HasClasses())
    {
        const std::set<uint32_t, std::greater<>> used(topology.pathClass.begin(),
                                                      topology.pathClass.end());
        std::ranges::transform(topology.pathClass, std::back_inserter(classes), [&](uint32_t one) {
            return static_cast<uint8_t>(std::distance(used.begin(), used.find(one)));
        });
    }
    return classes;
}

} // namespace

FlowFabric::FlowFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_paths(topology.pathSource.size()),
      m_solver(m_paths.GetCount(), ListClasses(topology)),
      m_hops(topology.linkSource.size(), m_solver.GetClasses())
{
    for (uint32_t link = 0; link < m_liveLinks.GetCount(); ++link)
    {
        PrepareLink(link);
    }
    for (uint32_t id = 0; id < m_paths.GetCount(); ++id)
    {
        PreparePath(id);
    }
    if (topology.HasCircuits() || topology.HasLinkEvents())
    {
        m_linkControl = std::make_unique<FlowLinkControl>(topology, *this);
    }
}

LinkControl*
FlowFabric::GetLinkControl()
{
    return m_linkControl.get();
}

void
FlowFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    if (m_linkControl)
    {
        m_linkControl->NoteDemand();
    }
    if (at > now && (m_delayed.IsEmpty() || m_paths.Get(m_delayed.Back()).sentAt != at))
    {
        Plan(at, DELAYED);
    }
    for (const Cargo& one : cargo)
    {
        const WireSize& size = one.size;
        const uint32_t id = m_paths.Add(
            {size.bytes, size.wireBytes, at, size.firstBytes, one.path, one.bundle, NONE});
        if (at > now)
        {
            m_delayed.Push(id);
        }
        else
        {
            Begin(id, now);
        }
    }
}

/// Start to send a message, so that its path has data to send.
void
FlowFabric::Begin(uint32_t id, uint64_t now)
{
    const FlowStreams::Message& message = m_paths.Get(id);
    Path& path = m_paths[message.path];
    if (path.first == NONE)
    {
        FlowStreams::Advance(path, now);
        const Opening* opening = m_paths.GetOpening(path);
        // While a change of the links pauses the path, its window stands still.
        if (opening != nullptr && !path.isPaused && now >= opening->startedAt + opening->roundTrip)
        {
            m_paths.OpenWindow(path, now);
        }
        if (TakeHops(id, now))
        {
            return;
        }
    }
    if (!m_paths.Append(id))
    {
        return;
    }
    if (m_linkControl)
    {
        m_linkControl->AddBusy(message.path);
    }
    path.left = static_cast<double>(message.wireBytes);
    MarkDirty(message.path, now);
}

void
FlowFabric::MarkDirty(uint32_t id, uint64_t now)
{
    if (!m_paths[id].isDirty)
    {
        m_paths[id].isDirty = true;
        m_dirty.push_back(id);
        RequestService(now);
    }
}

void
FlowFabric::OnDue(uint32_t subject, uint64_t now)
{
    if (subject < GetFirstHopSubject())
    {
        OnPathDue(subject, now);
        return;
    }
    if (subject != DELAYED)
    {
        OnHop(subject - GetFirstHopSubject(), now);
        return;
    }
    SendDelayed(now);
}

/// Send the messages that are due.
[[gnu::noinline]] void
FlowFabric::SendDelayed(uint64_t now)
{
    while (!m_delayed.IsEmpty() && m_paths.Get(m_delayed.Front()).sentAt <= now)
    {
        const uint32_t id = m_delayed.Front();
        m_delayed.Pop();
        Begin(id, now);
    }
}

void
FlowFabric::Prepare(uint32_t subject, std::size_t before) const
{
    // What a step has loaded tells the next step what to load.
    constexpr std::size_t MESSAGE = 24;
    constexpr std::size_t BUNDLE_OF_MESSAGE = 8;
    if (subject >= GetFirstHopSubject())
    {
        if (subject != DELAYED)
        {
            m_hops.Prepare(subject - GetFirstHopSubject());
        }
        return;
    }
    if (before > MESSAGE)
    {
        m_paths.Prepare(subject);
    }
    else if (before > BUNDLE_OF_MESSAGE)
    {
        m_paths.PrepareFirst(subject);
        m_flowRecord.Prepare(subject);
    }
    else if (m_paths[subject].first != NONE)
    {
        const FlowStreams::Message& message = m_paths.Get(m_paths[subject].first);
        PrepareBundle(message.bundle);
        if (message.next != NONE)
        {
            m_paths.PrepareMessage(message.next);
        }
    }
}

void
FlowFabric::OnServed(uint64_t now)
{
    if (m_dirty.empty())
    {
        return;
    }
    for (const uint32_t id : m_dirty)
    {
        Path& path = m_paths[id];
        path.isDirty = false;
        const bool sends = path.first != NONE && !path.isPaused;
        if (sends == m_solver.IsActive(id))
        {
            if (sends)
            { // the path ended and began to send at the same time
                Estimate(id, now);
            }
        }
        else if (sends)
        {
            m_solver.Start(id);
            if (!m_hops.IsEmpty(now))
            { // its packets wait behind what is in the queues of its links
                path.updatedAt = std::max(path.updatedAt, GetEmptyAt(id));
            }
        }
        else
        {
            m_solver.Stop(id);
            path.rate = 0;
        }
    }
    m_dirty.clear();
    for (const uint32_t id : m_solver.Solve())
    {
        if (m_paths[id].rate != m_solver.GetRate(id))
        {
            FlowStreams::Advance(m_paths[id], now);
            m_paths[id].rate = m_solver.GetRate(id);
            Estimate(id, now);
        }
    }
}

/// Compute when the first message or the window of a sending path ends.
void
FlowFabric::Estimate(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    if (path.rate == 0)
    { // higher traffic classes take its links
        path.doneAt = FlowStreams::NEVER;
        return;
    }
    const double left = std::max(FlowStreams::GetLeft(path), 0.0);
    const double duration = std::ceil(left * BYTE_PS / path.rate - ROUNDING_PS);
    if (!(duration < LONGEST_PS))
    {
        Abandon(m_paths.Get(path.first).bytes, id);
        return;
    }
    const uint64_t from = std::max(now, path.updatedAt);
    PlanPath(id, Later(from, static_cast<uint64_t>(std::max(duration, 0.0))));
}

void
FlowFabric::PlanPath(uint32_t id, uint64_t at)
{
    Path& path = m_paths[id];
    path.doneAt = at;
    if (at < path.plannedAt)
    {
        path.plannedAt = at;
        Plan(at, id);
    }
}

void
FlowFabric::OnPathDue(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    if (path.plannedAt != now)
    {
        return; // the path was faster than planned
    }
    path.plannedAt = FlowStreams::NEVER;
    if (path.doneAt > now)
    { // the path is slower than planned
        if (path.doneAt != FlowStreams::NEVER)
        {
            PlanPath(id, path.doneAt);
        }
        return;
    }
    FlowStreams::Advance(path, now);
    if (path.isPaused)
    {
        path.isPaused = false;
        m_paths.OpenWindow(path, now);
        MarkDirty(id, now);
    }
    else if (path.left <= NOTHING)
    {
        Dispatch(id, now);
    }
    else if (FlowStreams::GetLeft(path) <= NOTHING)
    {
        EndWindow(id, now);
    }
    else
    {
        Estimate(id, now);
    }
}

/// Finish the first message of a path, which has left its source completely.
void
FlowFabric::Dispatch(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    const FlowStreams::Message& message = m_paths.Get(path.first);
    const double forwarding = std::ceil(path.forwardingPs * message.firstBytes - ROUNDING_PS);
    const uint64_t delay =
        Later(path.latency, static_cast<uint64_t>(std::clamp(forwarding, 0.0, LONGEST_PS)));
    const double lastLink =
        std::min(path.lastLinkPs * static_cast<double>(message.wireBytes), LONGEST_PS);
    const auto lastLinkPs = static_cast<uint64_t>(lastLink);
    if (path.firstUnderWay != NONE)
    {
        FollowHops(message, Later(now, delay), lastLinkPs);
    }
    else
    {
        path.lastArrival = std::max(Later(path.lastArrival, lastLinkPs), Later(now, delay));
        Place(message.bundle, {id, message.bytes, message.sentAt, path.lastArrival});
    }
    m_paths.RemoveFirst(path);
    if (path.first == NONE)
    {
        path.doneAt = FlowStreams::NEVER;
        MarkDirty(id, now);
        return;
    }
    // The clock counts whole picoseconds, so too much may have been sent. That part belongs to the
    // next message.
    path.left = std::min(path.left, 0.0) + static_cast<double>(m_paths.Get(path.first).wireBytes);
    Estimate(id, now);
}

/// End the window of a path, which has sent all of it.
void
FlowFabric::EndWindow(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    const Opening& opening = *m_paths.GetOpening(path);
    const uint64_t next = opening.startedAt + opening.roundTrip;
    if (now >= next)
    {
        m_paths.OpenWindow(path, now);
        Estimate(id, now);
        return;
    }
    path.isPaused = true;
    MarkDirty(id, now);
    PlanPath(id, next);
}

std::vector<LinkCounters>
FlowFabric::CountLinks() const
{
    if (m_linkControl)
    {
        return m_linkControl->GetLinkCounters();
    }
    const uint64_t now = Now();
    std::vector<LinkCounters> uses(m_liveLinks.GetCount());
    for (uint32_t id = 0; id < m_paths.GetCount(); ++id)
    {
        const uint64_t carried = m_paths.GetCarried(m_paths[id], now);
        for (const uint32_t link : m_liveLinks.GetPath(id))
        {
            uses[link].wireBytes += carried;
        }
    }
    for (uint32_t link = 0; link < uses.size(); ++link)
    {
        uses[link].busyPs = GetBusyPs(link, uses[link].wireBytes);
    }
    return uses;
}

int64_t
FlowFabric::GetBusyPs(uint32_t link, uint64_t wireBytes) const
{
    const double busyPs = static_cast<double>(wireBytes) * BYTE_PS /
                          static_cast<double>(m_liveLinks.Get(link).rateBps);
    return static_cast<int64_t>(std::min(busyPs, LONGEST_PS));
}

// Links and paths, at the start and when they change.

void
FlowFabric::PrepareLink(uint32_t link)
{
    m_hops.Reset(link);
    const auto rate = static_cast<double>(GetGoodRateBps(m_liveLinks.Get(link)));
    if (link == m_solverLinks.size())
    {
        m_solverLinks.push_back(m_solver.AddLink(rate));
    }
    else
    {
        m_solver.SetCapacity(m_solverLinks[link], rate);
    }
}

void
FlowFabric::PreparePath(uint32_t id)
{
    Path& path = m_paths[id];
    const WindowLimits limits =
        GetWindowLimits(m_settings.GetTransport(m_topology.GetTransport(id)));
    path.latency = 0;
    path.forwardingPs = 0;
    uint64_t slowest = UINT64_MAX;
    bool isFirst = true;
    for (const uint32_t linkId : m_liveLinks.GetPath(id))
    {
        const LinkState& link = m_liveLinks.Get(linkId);
        path.latency = Later(path.latency, link.latencyPs);
        path.latency = Later(path.latency, isFirst ? 0 : ForwardingPs(linkId));
        path.lastLinkPs = BYTE_PS / static_cast<double>(link.rateBps);
        path.forwardingPs += path.lastLinkPs;
        slowest = std::min(slowest, link.rateBps);
        isFirst = false;
    }
    const double bytePs = BYTE_PS / static_cast<double>(slowest);
    const PacketFormat& format = m_formats.Get(id);
    const double packet = format.GetFullBytes();
    const double roundTrip = static_cast<double>(path.latency) + packet * path.forwardingPs +
                             static_cast<double>(AcknowledgementPs(id));
    path.forwardingPs = std::max(0.0, path.forwardingPs - bytePs); // all links except the slowest
    const double enough = roundTrip / bytePs;
    const double initial = limits.initialBytes / format.payloadBytes * packet;
    if (initial < enough)
    {
        const auto roundTripPs = static_cast<uint64_t>(std::ceil(roundTrip));
        m_paths.StartSlowly(path, {initial, enough, 0, roundTripPs});
    }
    else
    {
        m_paths.EndSlowStart(path);
    }
    const double limit = limits.fullBytes * packet / format.payloadBytes / roundTrip; // [bytes/ps]
    LimitPath(id, limit * bytePs < 1 ? limit * BYTE_PS : 0);
}

/// Tell the solver the links of a path, and the rate that its window allows; 0 means any rate.
void
FlowFabric::LimitPath(uint32_t id, double limitBps)
{
    m_solverPath.clear();
    for (const uint32_t link : m_liveLinks.GetPath(id))
    {
        m_solverPath.push_back(m_solverLinks[link]);
    }
    if (limitBps != 0)
    {
        if (m_windowLinks.empty())
        {
            m_windowLinks.assign(m_paths.GetCount(), NONE);
        }
        uint32_t& link = m_windowLinks[id];
        if (link == NONE)
        {
            link = m_solver.AddLink(limitBps);
        }
        m_solver.SetCapacity(link, limitBps);
        m_solverPath.push_back(link);
    }
    m_solver.SetLinks(id, m_solverPath);
}

// Messages that travel hop by hop.

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
    if (path.opening == NONE || path.first != NONE || path.isPaused ||
        wireBytes > path.windowLeft || YieldsToStreams(message.path))
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

/// @return whether streams of higher classes use links of a path
bool
FlowFabric::YieldsToStreams(uint32_t path) const
{
    const uint32_t trafficClass = m_solver.GetClass(path);
    return trafficClass > 0 && std::ranges::any_of(m_liveLinks.GetPath(path), [&](uint32_t link) {
               return m_solver.IsShared(m_solverLinks[link], trafficClass);
           });
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
    const uint32_t trafficClass = m_solver.GetClass(message.path);
    const FlowHops::Passage passage =
        m_hops.Enter(message, link, trafficClass, busyPs, TransmissionPs(message.firstBytes, link));
    StallStreams(link, trafficClass, busyPs, now);
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

/**
 * Let the streams of a class and of lower ones that share a full link wait while the link sends a
 * message of that class.
 */
void
FlowFabric::StallStreams(uint32_t link, uint32_t trafficClass, uint64_t busyPs, uint64_t now)
{
    m_solver.ForEachLimited(m_solverLinks[link], trafficClass, [this, busyPs, now](uint32_t id) {
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
        at = std::max(at, m_hops.GetEmptyAt(link, m_solver.GetClass(path)));
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
