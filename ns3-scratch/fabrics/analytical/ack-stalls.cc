/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/analytical/ack-stalls.h"

#include "fabrics/message/message-fabric.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

AckStalls::AckStalls(const MessageFabric& fabric, const WindowLimits& limits)
    : m_fabric(fabric),
      m_sizes(fabric.m_format, limits),
      m_payloadShare(m_sizes.GetPayloadShare()),
      m_first(static_cast<uint64_t>(m_sizes.GetFirst().withRest))
{
}

void
AckStalls::Announce(std::span<const Cargo> cargo, uint64_t at)
{
    for (const Cargo& one : cargo)
    {
        if (!IsLarge(one.size.wireBytes))
        {
            continue;
        }
        const uint32_t first = m_fabric.m_liveLinks.GetPath(one.path).front();
        m_links.resize(m_fabric.m_liveLinks.GetCount());
        Link& link = m_links[first];
        const uint64_t transmission = m_fabric.TransmissionPs(one.size.wireBytes, first);
        link.busyUntil = MessageFabric::Later(std::max(link.busyUntil, at), transmission);
        link.path = one.path;
    }
}

uint64_t
AckStalls::GetOfLarge(uint32_t path, uint64_t wireBytes, uint64_t at) const
{
    const uint32_t own = m_fabric.m_liveLinks.GetPath(path).front();
    const uint64_t gaps = CountGaps(path, wireBytes);
    if (gaps == 0 || !IsInRing(path, at))
    {
        return 0;
    }
    // Only the part during which the other data is sent waits for it.
    const auto whole = static_cast<double>(m_fabric.TransmissionPs(wireBytes, own));
    const auto common = static_cast<double>(m_links[m_fabric.GetAckLink(path)].busyUntil - at);
    const double delay = static_cast<double>(gaps) * std::min(1.0, common / whole) *
                         static_cast<double>(GetGap(path));
    return static_cast<uint64_t>(std::min(delay, static_cast<double>(MAX_TIME_PS)));
}

/// @return the number of gaps between the windows of a message
uint64_t
AckStalls::CountGaps(uint32_t path, uint64_t wireBytes) const
{
    auto left = static_cast<double>(wireBytes);
    auto sent = static_cast<double>(m_fabric.GetFlow(path).bytes);
    uint64_t gaps = 0;
    for (WindowSize size = m_sizes.Get(sent); left > size.withRest; size = m_sizes.Get(sent))
    {
        if (size.isFull)
        {
            return gaps + static_cast<uint64_t>(std::ceil((left - size.withRest) / size.complete));
        }
        ++gaps;
        left -= size.complete;
        sent += size.complete * m_payloadShare;
    }
    return gaps;
}

/// @return the time from the departure of a packet on the first link of a path to its
/// acknowledgment [ps]
uint64_t
AckStalls::GetGap(uint32_t path) const
{
    const auto packet = static_cast<uint64_t>(m_sizes.GetPacket());
    uint64_t sum = 0;
    bool isFirst = true;
    for (const uint32_t link : m_fabric.m_liveLinks.GetPath(path))
    {
        const uint64_t bytes = isFirst ? m_fabric.m_format.ackBytes : packet;
        sum += m_fabric.TransmissionPs(bytes, link) + m_fabric.m_liveLinks.Get(link).latencyPs;
        sum += isFirst ? 0 : m_fabric.ForwardingPs(link);
        isFirst = false;
    }
    return sum;
}

/// @return true if acknowledgments of the path wait for data that waits for data of the path
bool
AckStalls::IsInRing(uint32_t path, uint64_t at) const
{
    const uint32_t own = m_fabric.m_liveLinks.GetPath(path).front();
    const uint32_t first = m_fabric.GetAckLink(path);
    uint32_t link = first;
    for (uint32_t i = 0; i < MAX_RING; ++i)
    {
        if (link >= m_links.size() || m_links[link].busyUntil <= at) // it can be NONE
        {
            return false;
        }
        if (link == own)
        {
            return true;
        }
        link = m_fabric.GetAckLink(m_links[link].path);
        if (link == first)
        { // a ring without this path
            return false;
        }
    }
    return true;
}

} // namespace cosim
