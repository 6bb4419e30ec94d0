/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/send-windows.h"

#include "fabrics/message/message-fabric.h"
#include "support/wide-arithmetic.h"

#include <algorithm>
#include <utility>

namespace cosim
{

SendWindows::SendWindows(MessageFabric& fabric)
    : m_fabric(fabric),
      m_links(fabric.m_topology.linkSource.size()),
      m_paths(fabric.m_topology.pathSource.size())
{
    for (const WindowSizes& sizes : MakeWindowSizes(fabric.m_settings))
    {
        m_kinds.push_back({sizes,
                           static_cast<uint64_t>(sizes.GetFirst().withRest / 2),
                           static_cast<uint64_t>(sizes.GetFull().withRest / 2),
                           static_cast<uint64_t>(sizes.GetPacket())});
    }
    for (uint32_t path = 0; path < m_paths.size(); ++path)
    {
        m_paths[path].kind = fabric.m_topology.GetTransport(path);
    }
    FindSharedLinks(fabric.m_topology);
}

/// Find the links on which messages of several pairs of ranks can meet.
void
SendWindows::FindSharedLinks(const Topology& topology)
{
    std::vector<uint32_t> one(m_links.size(), NONE);       // a path of each link
    std::vector<uint64_t> few(m_links.size(), UINT64_MAX); // the least of its paths
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        for (uint32_t hop = topology.pathBegin[path]; hop < topology.pathBegin[path + 1]; ++hop)
        {
            const uint32_t link = topology.pathLinks[hop];
            one[link] = one[link] == NONE ? path : one[link];
            few[link] = std::min(few[link], m_kinds[m_paths[path].kind].few);
            if (topology.pathSource[one[link]] != topology.pathSource[path] ||
                topology.pathTarget[one[link]] != topology.pathTarget[path])
            {
                m_links[link].few = few[link] / 2;
            }
        }
    }
}

/// Compute the return times of a path.
void
SendWindows::Measure(Path& path, uint32_t id) const
{
    path.ackLink = m_fabric.GetAckLink(id);
    path.returnPs = m_fabric.AcknowledgementPs(id);
    bool isFirst = true;
    for (const uint32_t link : m_fabric.m_liveLinks.GetPath(id))
    {
        const uint64_t packet = m_fabric.TransmissionPs(m_kinds[path.kind].packet, link);
        const uint64_t forwarding = isFirst ? 0 : packet + m_fabric.ForwardingPs(link);
        const uint64_t latency = m_fabric.m_liveLinks.Get(link).latencyPs;
        path.returnPs = MessageFabric::Later(path.returnPs, latency + forwarding);
        path.waitPs = MessageFabric::Later(path.waitPs, packet);
        isFirst = false;
    }
}

bool
SendWindows::AdmitMore(uint32_t link, const Cargo& cargo, uint64_t at, uint64_t now)
{
    Path& path = m_paths[cargo.path];
    if (path.ackedAt <= at)
    {
        Rest(path);
    }
    const uint64_t sum = path.bytes + cargo.size.wireBytes;
    if (path.busy == NONE && (path.bytes == 0 || sum <= std::max(m_kinds[path.kind].few, path.few)))
    {
        return at == now || m_links[link].waiting == 0;
    }
    if (at > now &&
        (m_links[link].waiting > 0 || (path.busy == NONE && path.few < m_kinds[path.kind].most)))
    {
        return false;
    }
    const Busy& busy = path.busy == NONE ? Follow(link, cargo.path) : m_busy[path.busy];
    if (!busy.held.IsEmpty())
    {
        return false;
    }
    if (!IsRoom(busy, cargo.size))
    {
        Acknowledge(path, now);
    }
    return IsRoom(busy, cargo.size);
}

/// Forget what a path has sent, because all of it is acknowledged.
void
SendWindows::Rest(Path& path)
{
    path.bytes = 0;
    if (path.busy != NONE && m_busy[path.busy].held.IsEmpty())
    {
        m_busy[path.busy].sent.Clear();
        m_busy.Return(std::exchange(path.busy, NONE));
    }
}

/// Begin to follow what a path sends.
SendWindows::Busy&
SendWindows::Follow(uint32_t link, uint32_t id)
{
    Path& path = m_paths[id];
    path.busy = m_busy.Take();
    Busy& busy = m_busy[path.busy];
    const double before =
        static_cast<double>(path.bytes) * m_kinds[path.kind].sizes.GetPayloadShare();
    busy.acked = std::max(0.0, static_cast<double>(m_fabric.GetFlow(id).bytes) - before);
    busy.wireBytes = path.bytes;
    busy.heldBytes = 0;
    busy.link = link;
    busy.sent.Push({path.bytes, path.ackedFrom, path.ackedAt});
    SetWindow(path);
    return busy;
}

/// Compute the window of a path.
void
SendWindows::SetWindow(Path& path)
{
    Busy& busy = m_busy[path.busy];
    const WindowSize size = m_kinds[path.kind].sizes.Get(busy.acked);
    busy.window = static_cast<uint64_t>(size.withRest);
    busy.isFull = size.isFull;
    path.few = busy.window / 2;
}

void
SendWindows::EnterMore(Link& first,
                       uint32_t id,
                       uint64_t wireBytes,
                       uint64_t at,
                       uint64_t start,
                       uint64_t end)
{
    Path& path = m_paths[id];
    if (path.returnPs == 0)
    {
        Measure(path, id);
    }
    const bool isWaiting = path.ackLink != NONE && m_links[path.ackLink].free > start;
    const uint64_t back = path.returnPs + (isWaiting ? path.waitPs : 0);
    if (path.busy == NONE)
    {
        if (path.ackedAt <= at)
        {
            const bool isOnly = first.path == id && first.bytes > 0;
            path.bytes = isOnly ? first.bytes : 0;
            path.ackedFrom = MessageFabric::Later(isOnly ? first.begin : start, back);
        }
        path.bytes += wireBytes;
    }
    first.path = NONE;
    path.ackedAt = std::max(path.ackedAt, MessageFabric::Later(end, back));
    if (path.busy == NONE)
    {
        return;
    }
    Busy& busy = m_busy[path.busy];
    busy.wireBytes += wireBytes;
    const uint64_t before = busy.sent.IsEmpty() ? 0 : busy.sent.Back().ackedAt;
    const uint64_t from = std::max(before, MessageFabric::Later(start, back));
    if (before == from)
    {
        busy.sent.Back().wireBytes += wireBytes;
        busy.sent.Back().ackedAt = path.ackedAt;
    }
    else
    {
        busy.sent.Push({wireBytes, from, path.ackedAt});
    }
}

/// Remove what is acknowledged by now.
void
SendWindows::Acknowledge(Path& path, uint64_t now)
{
    Busy& busy = m_busy[path.busy];
    uint64_t acked = 0;
    while (!busy.sent.IsEmpty() && busy.sent.Front().ackedAt <= now)
    {
        acked += busy.sent.Front().wireBytes;
        busy.sent.Pop();
    }
    if (!busy.sent.IsEmpty() && busy.sent.Front().ackedFrom < now)
    { // a part of it is acknowledged
        Sent& sent = busy.sent.Front();
        const uint64_t part =
            MultiplyDivide(sent.wireBytes, now - sent.ackedFrom, sent.ackedAt - sent.ackedFrom);
        sent.wireBytes -= part;
        sent.ackedFrom = now;
        acked += part;
    }
    busy.wireBytes -= acked;
    if (acked > 0 && !busy.isFull)
    {
        busy.acked += static_cast<double>(acked) * m_kinds[path.kind].sizes.GetPayloadShare();
        SetWindow(path);
    }
}

void
SendWindows::Hold(uint32_t link, const Cargo& cargo, uint64_t now)
{
    Busy& busy = m_busy[m_paths[cargo.path].busy];
    busy.held.Push({cargo, now});
    busy.heldBytes += cargo.size.wireBytes;
    ++m_links[link].waiting;
    if (busy.held.GetSize() == 1)
    {
        PlanRelease(cargo.path, now);
    }
}

std::optional<SendWindows::Sending>
SendWindows::Release(uint32_t id, uint64_t now)
{
    Path& path = m_paths[id];
    Busy& busy = m_busy[path.busy];
    if (busy.held.IsEmpty())
    {
        return {};
    }
    const Sending sending = busy.held.Front();
    if (!IsRoom(busy, sending.cargo.size))
    {
        Acknowledge(path, now);
        if (!IsRoom(busy, sending.cargo.size))
        {
            PlanRelease(id, now);
            return {};
        }
    }
    busy.held.Pop();
    busy.heldBytes -= sending.cargo.size.wireBytes;
    --m_links[busy.link].waiting;
    return sending;
}

/// Plan the event at which the next messages of a path enter.
void
SendWindows::PlanRelease(uint32_t id, uint64_t now)
{
    const Path& path = m_paths[id];
    const Busy& busy = m_busy[path.busy];
    const uint64_t first = busy.held.Front().cargo.size.firstBytes;
    const uint64_t free = m_links[busy.link].free;
    // An event enters several messages, but does not leave the link idle for that.
    uint64_t at = GetRoomPs(path, std::max(first, std::min(busy.window / GROUPS, busy.heldBytes)));
    if (at > free)
    {
        at = std::max(free, GetRoomPs(path, first));
    }
    m_fabric.Plan(std::max(now + 1, at), id | SUBJECT);
}

/// @return the time at which the window of a path has room for an amount [ps]
uint64_t
SendWindows::GetRoomPs(const Path& path, uint64_t wireBytes) const
{
    const Busy& busy = m_busy[path.busy];
    const uint64_t sum = busy.wireBytes + wireBytes;
    uint64_t excess = sum - std::min(sum, busy.window);
    if (!busy.isFull)
    {
        // What is acknowledged also makes the window larger, in whole packets.
        const uint64_t packet = m_kinds[path.kind].packet;
        excess = (excess / 2 + packet - 1) / packet * packet;
    }
    for (std::size_t i = 0; i < busy.sent.GetSize(); ++i)
    {
        const Sent& sent = busy.sent.At(i);
        if (excess <= sent.wireBytes)
        {
            const uint64_t duration = sent.ackedAt - sent.ackedFrom;
            return sent.ackedFrom + MultiplyDivideUp(duration, excess, sent.wireBytes, duration);
        }
        excess -= sent.wireBytes;
    }
    return busy.sent.Back().ackedAt;
}

} // namespace cosim
