/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/ack-stalls.h"

#include "fabrics/message/message-fabric.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

AckStalls::AckStalls(const MessageFabric& fabric)
    : m_fabric(fabric)
{
    for (const WindowSizes& sizes : MakeWindowSizes(fabric.m_settings))
    {
        m_kinds.push_back({sizes, static_cast<uint64_t>(sizes.GetFirst().withRest)});
        m_first = std::min(m_first, m_kinds.back().first);
    }
}

const AckStalls::Kind&
AckStalls::GetKind(uint32_t path) const
{
    return m_kinds[m_fabric.m_topology.GetTransport(path)];
}

void
AckStalls::Announce(std::span<const Cargo> cargo, uint64_t at)
{
    for (const Cargo& one : cargo)
    {
        const uint64_t bytes = one.size.wireBytes;
        if (!IsLarge(one.path, bytes))
        {
            continue;
        }
        const Path& path = Know(one.path);
        Link& link = m_links[path.first];
        if (link.bytes != bytes)
        {
            link.bytes = bytes;
            link.transmission = m_fabric.TransmissionPs(bytes, path.first);
        }
        link.busyUntil = MessageFabric::Later(std::max(link.busyUntil, at), link.transmission);
        link.ackLink = path.ackLink;
    }
}

const AckStalls::Path&
AckStalls::Know(uint32_t id)
{
    if (m_paths.empty())
    {
        m_links.resize(m_fabric.m_liveLinks.GetCount());
        m_paths.resize(m_fabric.m_topology.pathSource.size());
    }
    Path& path = m_paths[id];
    if (!path.isKnown)
    {
        const uint32_t first = m_fabric.m_liveLinks.GetPath(id).front();
        path = {GetGap(id), first, m_fabric.GetAckLink(id), true};
    }
    return path;
}

uint64_t
AckStalls::GetOfLarge(uint32_t id, uint64_t wireBytes, uint64_t at)
{
    const Path& path = m_paths[id];
    if (!IsInRing(path, at))
    {
        return 0;
    }
    const uint64_t gaps = CountGaps(id, wireBytes);
    if (gaps == 0)
    {
        return 0;
    }
    // Only the part during which the other data is sent waits for it.
    const Link& own = m_links[path.first];
    const uint64_t transmission =
        own.bytes == wireBytes ? own.transmission : m_fabric.TransmissionPs(wireBytes, path.first);
    const auto whole = static_cast<double>(transmission);
    const auto common = static_cast<double>(m_links[path.ackLink].busyUntil - at);
    const double delay =
        static_cast<double>(gaps) * std::min(1.0, common / whole) * static_cast<double>(path.gap);
    return static_cast<uint64_t>(std::min(delay, static_cast<double>(MAX_TIME_PS)));
}

/// @return the number of gaps between the windows of a message
uint64_t
AckStalls::CountGaps(uint32_t id, uint64_t wireBytes)
{
    auto left = static_cast<double>(wireBytes);
    const WindowSizes& sizes = GetKind(id).sizes;
    Path& path = m_paths[id];
    if (path.isFull)
    { // what the flow has sent, which is rarely in a cache, need not be read
        return CountFullGaps(left, sizes.GetFull());
    }
    auto sent = static_cast<double>(m_fabric.GetFlow(id).bytes);
    WindowSize size = sizes.Get(sent);
    path.isFull = size.isFull;
    uint64_t gaps = 0;
    for (; left > size.withRest; size = sizes.Get(sent))
    {
        if (size.isFull)
        {
            return gaps + CountFullGaps(left, size);
        }
        ++gaps;
        left -= size.complete;
        sent += size.complete * sizes.GetPayloadShare();
    }
    return gaps;
}

/// @return the number of gaps between full windows
uint64_t
AckStalls::CountFullGaps(double left, const WindowSize& full)
{
    return left > full.withRest
               ? static_cast<uint64_t>(std::ceil((left - full.withRest) / full.complete))
               : 0;
}

/// @return the time from the departure of a packet on the first link of a path to its
/// acknowledgment [ps]
uint64_t
AckStalls::GetGap(uint32_t path) const
{
    const PacketFormat& format = m_fabric.m_formats.Get(path);
    const auto packet = uint64_t{format.GetFullBytes()};
    uint64_t sum = 0;
    bool isFirst = true;
    for (const uint32_t link : m_fabric.m_liveLinks.GetPath(path))
    {
        const uint64_t bytes = isFirst ? format.ackBytes : packet;
        sum += m_fabric.TransmissionPs(bytes, link) + m_fabric.m_liveLinks.Get(link).latencyPs;
        sum += isFirst ? 0 : m_fabric.ForwardingPs(link);
        isFirst = false;
    }
    return sum;
}

/// @return true if acknowledgments of the path wait for data that waits for data of the path
bool
AckStalls::IsInRing(const Path& path, uint64_t at) const
{
    uint32_t link = path.ackLink;
    for (uint32_t i = 0; i < MAX_RING; ++i)
    {
        if (link >= m_links.size() || m_links[link].busyUntil <= at) // it can be NONE
        {
            return false;
        }
        if (link == path.first)
        {
            return true;
        }
        link = m_links[link].ackLink;
        if (link == path.ackLink)
        { // a ring without this path
            return false;
        }
    }
    return true;
}

} // namespace cosim
