/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-fabric.h"

#include "stream/stream-validator.h"

#include <algorithm>
#include <cmath>

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

} // namespace

FlowFabric::FlowFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_paths(topology.pathSource.size()),
      m_hops(topology.linkSource.size()),
      m_solver(m_paths.GetCount())
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
    const std::vector<uint32_t>& changed = m_solver.Solve();
    for (std::size_t i = 0; i < changed.size(); ++i)
    {
        constexpr std::size_t AHEAD = 8; // paths that are being loaded meanwhile
        if (i + AHEAD < changed.size())
        {
            m_paths.Prepare(changed[i + AHEAD]);
        }
        const uint32_t id = changed[i];
        FlowStreams::Advance(m_paths[id], now);
        m_paths[id].rate = m_solver.GetRate(id);
        Estimate(id, now);
    }
}

/// Compute when the first message or the window of a sending path ends.
void
FlowFabric::Estimate(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
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
FlowFabric::GetLinks() const
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

} // namespace cosim
