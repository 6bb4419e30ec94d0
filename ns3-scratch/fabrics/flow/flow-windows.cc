/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/flow-windows.h"

#include "fabrics/flow/flow-fabric.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

namespace
{

/// Rates that differ by less than this share are the same.
constexpr double SAME = 1e-6;

} // namespace

FlowWindows::FlowWindows(FlowFabric& fabric)
    : m_fabric(fabric),
      m_sizes(fabric.m_settings.tcp, fabric.m_headerBytes),
      m_windows(fabric.m_paths.size())
{
}

void
FlowWindows::Prepare(uint32_t id, double rateBps)
{
    m_windows[id].rateBps = rateBps;
    m_waiting.resize(m_fabric.m_liveLinks.GetCount());
}

void
FlowWindows::Begin(uint32_t id, uint64_t now)
{
    Window& window = m_windows[id];
    const FlowFabric::Path& path = m_fabric.m_paths[id];
    const auto total = static_cast<double>(m_fabric.m_messages[path.first].wireBytes);
    const double sent = static_cast<double>(path.carried) + total - path.left;
    const double payloadShare = m_fabric.m_settings.tcp.segmentBytes / m_sizes.GetPacket();
    const WindowSize size = m_sizes.Get(sent * payloadShare);
    window.startedAt = now;
    window.count = 1;
    window.size = size.complete;
    if (path.left <= size.withRest)
    {
        window.left = size.withRest;
        return;
    }
    if (size.isFull)
    {
        const auto waits = [&size](double bytes) {
            return static_cast<uint64_t>(std::ceil((bytes - size.withRest) / size.complete));
        };
        window.count = std::min(waits(path.left), waits(total) / MAX_WAITS + 1);
    }
    window.left = static_cast<double>(window.count) * window.size;
}

uint64_t
FlowWindows::GetEnd(uint32_t id, uint64_t now) const
{
    const Window& window = m_windows[id];
    const double wait = GetAckWait(id) * static_cast<double>(window.count);
    return std::max(now, window.startedAt + static_cast<uint64_t>(std::ceil(wait)));
}

/// @return the time from the begin of a window to its last acknowledgment, where they wait behind
/// data, otherwise 0 [ps]
double
FlowWindows::GetAckWait(uint32_t id) const
{
    const uint32_t link = m_fabric.GetAckLink(id);
    const double queue = link == FlowFabric::NONE ? 0 : GetQueue(link, m_windows[id].startedAt);
    if (queue == 0)
    {
        return 0;
    }
    const double bytePs =
        FlowFabric::BYTE_PS / static_cast<double>(m_fabric.m_liveLinks.Get(link).rateBps);
    if (!IsInRing(id, link))
    {
        return queue * bytePs;
    }
    const FlowFabric::Path& path = m_fabric.m_paths[id];
    return (queue + m_fabric.m_headerBytes) * bytePs + static_cast<double>(path.latency) +
           m_sizes.GetPacket() * path.forwardingPs;
}

void
FlowWindows::SetWaiting(uint32_t id, bool isWaiting)
{
    Window& window = m_windows[id];
    if (window.isWaiting != isWaiting)
    {
        window.isWaiting = isWaiting;
        const uint32_t link = m_fabric.m_liveLinks.GetPath(id).front();
        m_waiting[link] += isWaiting ? window.size : -window.size;
    }
}

/// Find the sending paths whose data waits in the queue of a link, because they fill this link.
void
FlowWindows::FindQueued(uint32_t link, std::vector<uint32_t>& paths) const
{
    const auto capacity = static_cast<double>(m_fabric.m_liveLinks.Get(link).rateBps);
    double load = 0;
    double fastest = 0;
    for (const MaxMinSolver::Use& use : m_fabric.m_solver.GetUses(link))
    {
        const double rate = m_fabric.m_paths[use.flow].rate;
        load += rate / std::min(capacity, m_windows[use.flow].rateBps);
        fastest = std::max(fastest, rate);
    }
    if (load < 1 - SAME)
    {
        return;
    }
    for (const MaxMinSolver::Use& use : m_fabric.m_solver.GetUses(link))
    {
        // A path that waits since now is not removed from the solver yet.
        if (m_fabric.m_paths[use.flow].rate >= fastest * (1 - SAME) &&
            !m_windows[use.flow].isWaiting)
        {
            paths.push_back(use.flow);
        }
    }
}

/// @return the data that waits in the queue of a link, as seen since a time [bytes on the wire]
double
FlowWindows::GetQueue(uint32_t link, uint64_t startedAt) const
{
    double queue = m_waiting[link];
    m_queued.clear();
    FindQueued(link, m_queued);
    for (const uint32_t id : m_queued)
    {
        const FlowFabric::Path& path = m_fabric.m_paths[id];
        const uint64_t since = std::max(startedAt, m_windows[id].startedAt);
        const double duration = static_cast<double>(path.updatedAt) - static_cast<double>(since);
        const double left = path.left + path.rate / FlowFabric::BYTE_PS * duration;
        const bool isLast = path.first == path.last;
        queue += isLast ? std::clamp(left, 0.0, m_windows[id].size) : m_windows[id].size;
    }
    return queue;
}

/// @return true if acknowledgments of the path wait for data that waits for data of the path
bool
FlowWindows::IsInRing(uint32_t id, uint32_t ackLink) const
{
    const uint32_t own = m_fabric.m_liveLinks.GetPath(id).front();
    std::vector<uint32_t> links{ackLink};
    std::vector<uint32_t> paths;
    for (std::size_t next = 0; next < links.size(); ++next)
    {
        const uint32_t link = links[next];
        if (link == own || m_waiting[link] > 0 || next == MAX_SEARCH)
        {
            return true;
        }
        paths.clear();
        FindQueued(link, paths);
        for (const uint32_t path : paths)
        {
            const uint32_t further = m_fabric.GetAckLink(path);
            if (further != FlowFabric::NONE &&
                std::find(links.begin(), links.end(), further) == links.end())
            {
                links.push_back(further);
            }
        }
    }
    return false;
}

} // namespace cosim
