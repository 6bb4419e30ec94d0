/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/windowed-fabric.h"

#include <algorithm>
#include <optional>

namespace cosim
{

WindowedFabric::WindowedFabric(const Topology& topology, const Settings& settings)
    : MessageFabric(topology, settings),
      m_windows(*this,
                settings,
                m_headerBytes,
                [this](uint32_t path, uint64_t arrival) { return GetAckWaitPs(path, arrival); }),
      m_pastPs(ComputePastPs()),
      m_laterUntil(topology.ranks)
{
}

/// @return no less than twice the time that a packet takes on the longest path without queues [ps]
uint64_t
WindowedFabric::ComputePastPs() const
{
    uint32_t hops = 0;
    for (std::size_t path = 0; path < m_topology.pathSource.size(); ++path)
    {
        hops = std::max(hops, m_topology.pathBegin[path + 1] - m_topology.pathBegin[path]);
    }
    uint64_t longest = 0;
    for (uint32_t link = 0; link < m_topology.linkSource.size(); ++link)
    {
        const uint64_t packet = TransmissionPs(m_settings.tcp.segmentBytes + m_headerBytes, link) +
                                m_topology.linkLatencyPs[link] + ForwardingPs(link);
        longest = std::max(longest, packet);
    }
    return std::min(2 * hops * longest, MAX_TIME_PS);
}

void
WindowedFabric::PrepareLaunch(std::span<const Cargo> /* cargo */) const
{
}

uint64_t
WindowedFabric::GetWindowPs(uint32_t link) const
{
    return TransmissionPs(
        std::min(m_settings.tcp.sendBufferBytes, m_settings.tcp.receiveBufferBytes),
        link);
}

void
WindowedFabric::Launch(std::span<const Cargo> cargo, uint64_t at, uint64_t now)
{
    uint32_t batch = NONE;
    for (std::size_t i = 0; i < cargo.size(); ++i)
    {
        PrepareLaunch(cargo.subspan(i));
        const Cargo& one = cargo[i];
        if (at == now)
        {
            LaunchNow(one, now);
        }
        else if (!MustWait(one.path, now) && m_windows.Admit(one, at))
        {
            Enter(one, at, at, now);
        }
        else
        {
            Wait(one, at, batch);
        }
    }
}

/// @return true if a message that is sent later cannot enter its first link before, because other
/// messages of its rank may enter in between
inline bool
WindowedFabric::MustWait(uint32_t path, uint64_t now) const
{
    const uint32_t rank = m_topology.pathSource[path];
    return m_windows.IsFollowed(rank) || m_laterUntil[rank] > now;
}

/// Launch a message when it is sent, with others of the same time.
void
WindowedFabric::Wait(const Cargo& cargo, uint64_t at, uint32_t& batch)
{
    if (batch == NONE)
    {
        batch = m_later.Take();
        m_later[batch].clear();
        Plan(at, batch | LATER);
    }
    m_later[batch].push_back(cargo);
    m_laterUntil[m_topology.pathSource[cargo.path]] = at;
}

/// Launch a message that is sent now.
inline void
WindowedFabric::LaunchNow(const Cargo& cargo, uint64_t now)
{
    if (m_windows.Admit(cargo, now))
    {
        Enter(cargo, now, now, now);
    }
    else
    {
        m_windows.Hold(cargo, now);
        ReleaseHeld(cargo.path, now);
    }
}

/// Enter what a window has room for.
void
WindowedFabric::ReleaseHeld(uint32_t path, uint64_t now)
{
    while (const std::optional<SendWindows::Sending> sending = m_windows.Release(path, now))
    {
        Enter(sending->cargo, sending->sentAt, now, now);
    }
}

void
WindowedFabric::OnDue(uint32_t subject, uint64_t now)
{
    if ((subject & SendWindows::SUBJECT) != 0)
    {
        const uint32_t path = subject & ~SendWindows::SUBJECT;
        m_duePaths.emplace_back(m_windows.GetNumber(path), path);
    }
    else if ((subject & LATER) != 0)
    {
        m_dueBatches.push_back(subject & ~LATER);
    }
    else
    {
        OnArrival(subject, now);
    }
}

void
WindowedFabric::OnDueHandled(uint64_t now)
{
    std::sort(m_duePaths.begin(), m_duePaths.end());
    for (const auto& [number, path] : m_duePaths)
    {
        ReleaseHeld(path, now);
    }
    m_duePaths.clear();
    for (const uint32_t batch : m_dueBatches)
    {
        for (const Cargo& cargo : m_later[batch])
        {
            LaunchNow(cargo, now);
        }
        m_later.Return(batch);
    }
    m_dueBatches.clear();
}

/// @return how long the acknowledgment of a packet waits behind data [ps]
uint64_t
WindowedFabric::GetAckWaitPs(uint32_t path, uint64_t arrival)
{
    if (GetAckLink(path) == NONE)
    {
        return 0;
    }
    const uint32_t back = FindPath(m_topology.pathTarget[path], m_topology.pathSource[path]);
    uint64_t at = arrival;
    uint64_t sum = 0;
    for (const uint32_t link : m_liveLinks.GetPath(back))
    {
        at += sum == 0 && at == arrival ? 0 : ForwardingPs(link);
        const uint64_t free = std::max(at, GetFreePs(link, at));
        sum += free - at;
        at = free + m_liveLinks.Get(link).latencyPs;
    }
    return sum;
}

} // namespace cosim
