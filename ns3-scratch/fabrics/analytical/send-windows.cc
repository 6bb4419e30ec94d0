/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/send-windows.h"

#include "clock/causal-simulator.h"
#include "fabrics/message/message-fabric.h"
#include "support/wide-arithmetic.h"

#include <utility>

namespace cosim
{

SendWindows::SendWindows(MessageFabric& fabric, const Settings& settings, uint32_t headerBytes)
    : m_fabric(fabric),
      m_sizes(settings.tcp, headerBytes),
      m_payloadShare(settings.tcp.segmentBytes / m_sizes.GetPacket()),
      m_paths(fabric.m_topology.pathSource.size())
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

std::span<const Cargo>
SendWindows::Admit(std::span<const Cargo> cargo, uint64_t at)
{
    std::size_t i = 0;
    while (i < cargo.size() && AdmitOne(cargo[i], at))
    {
        ++i;
    }
    if (i == cargo.size())
    {
        return cargo;
    }
    m_admitted.assign(cargo.begin(), cargo.begin() + static_cast<std::ptrdiff_t>(i));
    for (++i; i < cargo.size(); ++i)
    {
        if (AdmitOne(cargo[i], at))
        {
            m_admitted.push_back(cargo[i]);
        }
    }
    return m_admitted;
}

/// @return true if the message enters its first link at that time; otherwise it is held back
bool
SendWindows::AdmitOne(const Cargo& cargo, uint64_t at)
{
    Path& state = m_paths[cargo.path];
    if (state.unplaced == 0 && at >= state.ackedAt)
    {
        Rest(state);
    }
    if (state.busy == NONE)
    {
        const uint64_t sum = state.wireBytes + cargo.size.wireBytes;
        if (static_cast<double>(2 * sum) <= m_sizes.GetFirst().withRest)
        {
            state.wireBytes = sum;
            ++state.unplaced;
            return true;
        }
        Follow(state);
    }
    Busy& busy = m_busy[state.busy];
    if (busy.held.IsEmpty() && GetRoomPs(cargo, at) <= at)
    {
        Enter(state, cargo.size.wireBytes);
        return true;
    }
    busy.held.Push({cargo, at});
    ++m_held;
    PlanRelease(busy);
    return false;
}

/// Forget what a path has sent, because all of it is acknowledged.
void
SendWindows::Rest(Path& state)
{
    state.acked += std::exchange(state.wireBytes, 0);
    if (state.busy != NONE && m_busy[state.busy].held.IsEmpty())
    {
        state.acked += m_busy[state.busy].wireBytes;
        m_busy[state.busy].sent.Clear();
        m_busy.Return(std::exchange(state.busy, NONE));
    }
}

/// Begin to follow what a path sends. What it has sent so far is acknowledged together.
void
SendWindows::Follow(Path& state)
{
    state.busy = m_busy.Take();
    Busy& busy = m_busy[state.busy];
    busy.wireBytes = std::exchange(state.wireBytes, 0);
    busy.plannedAt = NEVER;
    busy.placed = 0;
    busy.window.isFull = false;
    if (busy.wireBytes > 0)
    {
        busy.sent.Push({busy.wireBytes, state.ackedAt, state.ackedAt, state.unplaced});
        busy.placed = state.unplaced == 0 ? 1 : 0;
    }
}

/// Note that a message enters its first link.
void
SendWindows::Enter(Path& state, uint64_t wireBytes)
{
    Busy& busy = m_busy[state.busy];
    busy.sent.Push({wireBytes, 0, 0, 1});
    busy.wireBytes += wireBytes;
    ++state.unplaced;
}

void
SendWindows::PlaceBusy(const Path& state, uint64_t ackedAt, uint64_t transmission)
{
    Busy& busy = m_busy[state.busy];
    Sent& sent = busy.sent.At(busy.placed);
    sent.ackedFrom = ackedAt - std::min(ackedAt, transmission);
    sent.ackedAt = ackedAt;
    if (--sent.unplaced == 0)
    {
        ++busy.placed;
        if (!busy.held.IsEmpty())
        {
            PlanRelease(busy);
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
    if (busy.plannedAt <= now)
    {
        busy.plannedAt = NEVER;
    }
    if (busy.held.IsEmpty())
    {
        return {};
    }
    const Sending sending = busy.held.Front();
    const uint64_t at = std::max(now, sending.sentAt);
    if (GetRoomPs(sending.cargo, at) > now)
    {
        PlanRelease(busy);
        return {};
    }
    busy.held.Pop();
    --m_held;
    Enter(state, sending.cargo.size.wireBytes);
    return sending;
}

/// Plan an event at which the first held message of a path may enter, unless one is planned.
void
SendWindows::PlanRelease(Busy& busy)
{
    if (busy.plannedAt != NEVER)
    {
        return; // that event plans the next one
    }
    const Sending& first = busy.held.Front();
    busy.plannedAt = GetRoomPs(first.cargo, std::max(m_fabric.Now(), first.sentAt));
    if (busy.plannedAt != NEVER)
    {
        m_fabric.Plan(busy.plannedAt, first.cargo.path | SUBJECT);
    }
}

/// @return the earliest time from `at` on at which the window has room for the message, or NEVER
/// if that is not known [ps]
uint64_t
SendWindows::GetRoomPs(const Cargo& cargo, uint64_t at)
{
    Path& state = m_paths[cargo.path];
    Busy& busy = m_busy[state.busy];
    while (busy.placed > 0 && busy.sent.Front().ackedAt <= at)
    {
        state.acked += busy.sent.Front().wireBytes;
        busy.wireBytes -= busy.sent.Front().wireBytes;
        busy.sent.Pop();
        --busy.placed;
    }
    if (!busy.window.isFull)
    {
        busy.window = m_sizes.Get(static_cast<double>(state.acked) * m_payloadShare);
    }
    const auto room = static_cast<uint64_t>(busy.window.withRest);
    const uint64_t most = busy.wireBytes + cargo.size.firstBytes;
    if (most <= room)
    {
        return at;
    }
    if (!busy.window.isFull)
    { // had the path sent more, its window might have room
        m_historyPs = CausalSimulator::Get().GetNowPs();
    }
    uint64_t excess = most - room;
    if (!busy.window.isFull)
    {
        excess = (excess + 1) / 2; // what is acknowledged also makes the window larger
    }
    for (std::size_t i = 0; i < busy.placed; ++i)
    {
        const Sent& sent = busy.sent.At(i);
        if (excess <= sent.wireBytes)
        {
            const uint64_t duration = sent.ackedAt - sent.ackedFrom;
            return std::max(at,
                            sent.ackedFrom +
                                MultiplyDivideUp(duration, excess, sent.wireBytes, duration));
        }
        excess -= sent.wireBytes;
    }
    return NEVER;
}

void
SendWindows::AddHeld(std::vector<uint64_t>& bytes) const
{
    for (std::size_t path = 0; m_held > 0 && path < m_paths.size(); ++path)
    {
        const uint32_t busy = m_paths[path].busy;
        for (std::size_t i = 0; busy != NONE && i < m_busy[busy].held.GetSize(); ++i)
        {
            bytes[path] += std::max<uint64_t>(m_busy[busy].held.At(i).cargo.size.bytes, 1);
        }
    }
}

void
SendWindows::AddState(StateDigest& digest, uint64_t at) const
{
    for (std::size_t path = 0; path < m_paths.size(); ++path)
    {
        const Path& state = m_paths[path];
        if (state.ackedAt <= at)
        {
            continue; // it rests
        }
        digest.Add(path);
        digest.Add(state.ackedAt - at);
        digest.Add(state.wireBytes);
        if (state.busy == NONE)
        {
            continue;
        }
        const RingBuffer<Sent>& sent = m_busy[state.busy].sent;
        for (std::size_t i = 0; i < sent.GetSize(); ++i)
        {
            if (sent.At(i).ackedAt > at)
            {
                digest.Add(sent.At(i).wireBytes);
                digest.Add(sent.At(i).ackedFrom - at); // modulo 2^64
                digest.Add(sent.At(i).ackedAt - at);
            }
        }
    }
}

void
SendWindows::Shift(uint64_t ps)
{
    for (Path& state : m_paths)
    {
        state.ackedAt = MessageFabric::Later(state.ackedAt, ps);
        if (state.busy == NONE)
        {
            continue;
        }
        RingBuffer<Sent>& sent = m_busy[state.busy].sent;
        for (std::size_t i = 0; i < sent.GetSize(); ++i)
        {
            sent.At(i).ackedFrom += ps;
            sent.At(i).ackedAt += ps;
        }
    }
}

} // namespace cosim
