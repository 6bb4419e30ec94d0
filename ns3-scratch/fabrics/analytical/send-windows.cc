/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/send-windows.h"

#include "clock/causal-simulator.h"
#include "fabrics/message/message-fabric.h"
#include "support/wide-arithmetic.h"

#include <cmath>
#include <utility>

namespace cosim
{

SendWindows::SendWindows(MessageFabric& fabric,
                         const Settings& settings,
                         uint32_t headerBytes,
                         AckWait ackWait)
    : m_fabric(fabric),
      m_sizes(settings.tcp, headerBytes),
      m_ackWait(std::move(ackWait)),
      m_segment(settings.tcp.segmentBytes),
      m_packet(m_segment + headerBytes),
      m_payloadShare(settings.tcp.segmentBytes / m_sizes.GetPacket()),
      m_few(static_cast<uint64_t>(m_sizes.GetFirst().withRest / 2)),
      m_paths(fabric.m_topology.pathSource.size()),
      m_followed(fabric.m_topology.ranks)
{
}

uint64_t
SendWindows::GetReturnPs(uint32_t path)
{
    uint64_t& ps = m_paths[path].returnPs;
    if (ps == 0)
    {
        ps = std::max<uint64_t>(1, m_fabric.AcknowledgementPs(path));
    }
    return ps;
}

void
SendWindows::Hold(const Cargo& cargo, uint64_t now)
{
    Path& state = m_paths[cargo.path];
    if (state.busy == NONE)
    {
        Follow(cargo.path);
    }
    Busy& busy = m_busy[state.busy];
    const uint64_t least = cargo.size.packets / MAX_PARTS * m_packet;
    busy.held.Push({cargo, now, ++m_number, least});
    busy.heldBytes += cargo.size.wireBytes;
    ++m_held;
}

/// Begin to follow what a path sends. What it has sent so far is acknowledged together.
void
SendWindows::Follow(uint32_t path)
{
    Path& state = m_paths[path];
    ++m_followed[m_fabric.m_topology.pathSource[path]];
    state.busy = m_busy.Take();
    Busy& busy = m_busy[state.busy];
    busy.wireBytes = std::exchange(state.wireBytes, 0);
    busy.heldBytes = 0;
    busy.plannedAt = NEVER;
    busy.waitedUntil = 0;
    busy.openAt = NEVER;
    busy.isStuck = false;
    busy.placed = 0;
    if (busy.wireBytes > 0)
    {
        busy.sent.Push({busy.wireBytes, state.ackedAt, state.ackedAt, state.unplaced});
        busy.placed = state.unplaced == 0 ? 1 : 0;
    }
    SetWindow(state);
}

/// @return true if the message enters its first link now, on a path that is followed
bool
SendWindows::AdmitBusy(const Cargo& cargo, uint64_t now)
{
    Path& state = m_paths[cargo.path];
    const Busy& busy = m_busy[state.busy];
    if (!busy.held.IsEmpty())
    {
        return false;
    }
    if (!IsRoom(busy, cargo.size.wireBytes, busy.part))
    {
        Acknowledge(state, now);
        if (!IsRoom(busy, cargo.size.wireBytes, busy.part))
        {
            return false;
        }
    }
    Enter(state, cargo.size.wireBytes);
    return true;
}

/// @return true if there is room for a message, and it is too short to be cut into such parts
inline bool
SendWindows::IsRoom(const Busy& busy, uint64_t wireBytes, uint64_t part)
{
    return wireBytes < 2 * part &&
           busy.wireBytes + std::min(wireBytes, busy.complete) / 2 <= busy.withRest;
}

/// Note that a message or a part of one enters its first link.
void
SendWindows::Enter(Path& state, uint64_t wireBytes)
{
    Busy& busy = m_busy[state.busy];
    busy.sent.Push({wireBytes, 0, 0, 1});
    busy.wireBytes += wireBytes;
    ++state.unplaced;
}

void
SendWindows::Unfollow(uint32_t path)
{
    Path& state = m_paths[path];
    --m_followed[m_fabric.m_topology.pathSource[path]];
    state.acked += m_busy[state.busy].wireBytes;
    m_busy[state.busy].sent.Clear();
    m_busy.Return(std::exchange(state.busy, NONE));
}

void
SendWindows::PlaceBusy(uint32_t path, uint64_t ackedAt, uint64_t transmission)
{
    Busy& busy = m_busy[m_paths[path].busy];
    Sent& sent = busy.sent.At(busy.placed);
    // A link with a long queue reports a message later than those behind it (AnalyticalLink).
    const uint64_t before = busy.placed > 0 ? busy.sent.At(busy.placed - 1).ackedAt : 0;
    sent.ackedFrom = std::max(before, ackedAt - std::min(ackedAt, transmission));
    sent.ackedAt = std::max(before, ackedAt);
    if (--sent.unplaced == 0)
    {
        ++busy.placed;
        if (busy.isStuck)
        {
            PlanRelease(path, m_fabric.Now());
        }
    }
}

void
SendWindows::Postpone(uint32_t path, uint64_t before, uint64_t arrival)
{
    Path& state = m_paths[path];
    const uint64_t old = before + state.returnPs;
    const uint64_t delay = arrival - before;
    if (state.ackedAt == old)
    {
        state.ackedAt += delay;
    }
    if (state.busy == NONE)
    {
        return;
    }
    Busy& busy = m_busy[state.busy];
    for (std::size_t i = busy.placed; i-- > 0 && busy.sent.At(i).ackedAt >= old;)
    {
        Sent& sent = busy.sent.At(i);
        if (sent.ackedAt == old)
        {
            sent.ackedFrom += delay;
            sent.ackedAt += delay;
            return;
        }
    }
}

std::optional<SendWindows::Sending>
SendWindows::Release(uint32_t path, uint64_t now)
{
    Path& state = m_paths[path];
    if (state.busy == NONE)
    {
        return {};
    }
    Busy& busy = m_busy[state.busy];
    const bool isDue = busy.plannedAt <= now;
    busy.plannedAt = isDue ? NEVER : busy.plannedAt;
    if (busy.held.IsEmpty() || (isDue && GetRoomPs(busy) <= now && AwaitQueues(path, now)))
    {
        return {};
    }
    Acknowledge(state, now);
    if (busy.openAt != now && GetExcess(busy) > 0)
    {
        PlanRelease(path, now);
        return {};
    }
    busy.openAt = now;
    const Sending& first = busy.held.Front();
    const uint64_t size = first.cargo.size.wireBytes;
    const uint64_t part = std::max(busy.part, first.least);
    const uint64_t room = busy.complete - std::min(busy.complete, busy.wireBytes);
    Sending sending;
    if (IsRoom(busy, size, part))
    {
        sending = Take(busy);
    }
    else if (size >= 2 * part && 2 * room >= std::min(part, busy.complete))
    {
        const bool isLast = room > part && room < 2 * part;
        sending = Cut(busy, (isLast ? room : part) / m_packet);
    }
    else
    {
        PlanRelease(path, now);
        return {};
    }
    Enter(state, sending.cargo.size.wireBytes);
    busy.heldBytes -= sending.cargo.size.wireBytes;
    return sending;
}

/**
 * At an event at which acknowledgments come unless they wait in queues, find out whether they do.
 *
 * @return true if they wait; then another event is planned
 */
bool
SendWindows::AwaitQueues(uint32_t path, uint64_t now)
{
    Path& state = m_paths[path];
    Busy& busy = m_busy[state.busy];
    const uint64_t wait =
        busy.waitedUntil < now ? m_ackWait(path, now - std::min(now, state.returnPs)) : 0;
    if (wait == 0)
    {
        return false;
    }
    busy.waitedUntil = busy.plannedAt = MessageFabric::Later(now, wait);
    state.ackedAt = std::max(state.ackedAt, busy.waitedUntil);
    m_fabric.Plan(busy.plannedAt, path | SUBJECT);
    return true;
}

/// Remove what is acknowledged by now.
void
SendWindows::Acknowledge(Path& state, uint64_t now)
{
    Busy& busy = m_busy[state.busy];
    uint64_t acked = 0;
    while (busy.waitedUntil <= now && busy.placed > 0 && busy.sent.Front().ackedAt <= now)
    {
        acked += busy.sent.Front().wireBytes;
        busy.sent.Pop();
        --busy.placed;
    }
    if (busy.waitedUntil <= now && busy.placed > 0 && busy.sent.Front().ackedFrom < now)
    { // a part of it is acknowledged
        Sent& sent = busy.sent.At(0);
        const uint64_t part =
            MultiplyDivide(sent.wireBytes, now - sent.ackedFrom, sent.ackedAt - sent.ackedFrom);
        sent.wireBytes -= part;
        sent.ackedFrom = now;
        acked += part;
    }
    busy.wireBytes -= acked;
    state.acked += acked;
    if (acked > 0 && !busy.isFull)
    {
        SetWindow(state);
    }
}

/// Compute the window of a path.
void
SendWindows::SetWindow(const Path& state)
{
    Busy& busy = m_busy[state.busy];
    const WindowSize window = m_sizes.Get(static_cast<double>(state.acked) * m_payloadShare);
    busy.complete = static_cast<uint64_t>(window.complete);
    busy.withRest = static_cast<uint64_t>(window.withRest);
    busy.isFull = window.isFull;
    const uint64_t parts = busy.isFull ? FULL_PARTS : PARTS;
    busy.part = std::max<uint64_t>(busy.complete / parts / m_packet, 1) * m_packet;
}

/// @return the first held message, which is removed
SendWindows::Sending
SendWindows::Take(Busy& busy)
{
    const Sending sending = busy.held.Front();
    busy.held.Pop();
    --m_held;
    return sending;
}

/// @return the first packets of the first held message; the others stay
SendWindows::Sending
SendWindows::Cut(Busy& busy, uint64_t packets) const
{
    WireSize& rest = busy.held.At(0).cargo.size;
    Sending sending = busy.held.Front();
    WireSize& size = sending.cargo.size;
    size = {packets * m_segment,
            packets * m_packet,
            packets,
            static_cast<uint32_t>(m_packet),
            static_cast<uint32_t>(m_packet)};
    rest.wireBytes -= size.wireBytes;
    rest.packets -= size.packets;
    rest.firstBytes = rest.packets == 1 ? rest.lastBytes : rest.firstBytes;
    sending.cargo.bundle = NONE;
    return sending;
}

/// Plan an event at which the path may send more, unless one is planned or the time is not known.
void
SendWindows::PlanRelease(uint32_t path, uint64_t now)
{
    Busy& busy = m_busy[m_paths[path].busy];
    if (busy.plannedAt != NEVER)
    {
        return; // that event plans the next one
    }
    if (!busy.isFull)
    { // had the path sent more, its window might have room
        m_historyPs = CausalSimulator::Get().GetNowPs();
    }
    const uint64_t at = GetRoomPs(busy);
    busy.isStuck = at == NEVER;
    if (at != NEVER)
    {
        busy.plannedAt = std::max({at, busy.waitedUntil, now + 1});
        m_fabric.Plan(busy.plannedAt, path | SUBJECT);
    }
}

/// @return what must be acknowledged until the window has room for more [bytes on the wire]
uint64_t
SendWindows::GetExcess(const Busy& busy)
{
    const Sending& first = busy.held.Front();
    const uint64_t part = std::max(busy.part, first.least);
    const uint64_t size = first.cargo.size.wireBytes;
    const bool isWhole = size < 2 * part;
    const uint64_t limit = isWhole ? busy.withRest : busy.complete;
    // More than the first message, if it is small, so that an event releases several.
    const uint64_t next = isWhole ? std::max(size, std::min(part, busy.heldBytes)) : part;
    const uint64_t most = busy.wireBytes + std::min(next, busy.complete) / 2;
    return most - std::min(most, limit);
}

/// @return the time at which the window has room for more, if acknowledgments do not wait [ps];
/// NEVER if it is not known
uint64_t
SendWindows::GetRoomPs(const Busy& busy) const
{
    uint64_t excess = GetExcess(busy);
    if (!busy.isFull)
    {
        // What is acknowledged also makes the window larger, in whole packets.
        excess = (excess / 2 + m_packet - 1) / m_packet * m_packet;
    }
    return GetAckedPs(busy, excess);
}

/// @return the time at which an amount is acknowledged [ps]; NEVER if it is not known
uint64_t
SendWindows::GetAckedPs(const Busy& busy, uint64_t wireBytes)
{
    for (std::size_t i = 0; i < busy.placed; ++i)
    {
        const Sent& sent = busy.sent.At(i);
        if (wireBytes <= sent.wireBytes)
        {
            const uint64_t duration = sent.ackedAt - sent.ackedFrom;
            return sent.ackedFrom + MultiplyDivideUp(duration, wireBytes, sent.wireBytes, duration);
        }
        wireBytes -= sent.wireBytes;
    }
    return NEVER;
}

} // namespace cosim
