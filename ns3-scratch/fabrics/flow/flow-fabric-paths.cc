/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of FlowFabric that prepares links and paths, at the start and when they change.

#include "fabrics/flow/flow-fabric.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

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
    const WindowLimits limits = GetWindowLimits(m_settings);
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
    const double packet = m_format.GetFullBytes();
    const double roundTrip = static_cast<double>(path.latency) + packet * path.forwardingPs +
                             static_cast<double>(AcknowledgementPs(id));
    path.forwardingPs = std::max(0.0, path.forwardingPs - bytePs); // all links except the slowest
    const double enough = roundTrip / bytePs;
    const double initial = limits.initialBytes / m_format.payloadBytes * packet;
    if (initial < enough)
    {
        const auto roundTripPs = static_cast<uint64_t>(std::ceil(roundTrip));
        m_paths.StartSlowly(path, {initial, enough, 0, roundTripPs});
    }
    else
    {
        m_paths.EndSlowStart(path);
    }
    const double limit =
        limits.fullBytes * packet / m_format.payloadBytes / roundTrip; // [bytes/ps]
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

} // namespace cosim
