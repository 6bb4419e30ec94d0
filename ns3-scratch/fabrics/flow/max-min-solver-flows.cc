/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of MaxMinSolver that keeps the active flows and their links between two solutions.

#include "fabrics/flow/max-min-solver.h"

namespace cosim
{

MaxMinSolver::MaxMinSolver(std::size_t flows)
    : m_links(flows),
      m_flow(flows)
{
}

void
MaxMinSolver::SetLinks(uint32_t flow, std::span<const uint32_t> links)
{
    m_links.Set(flow, links);
    m_position.resize(m_links.GetEnd());
}

void
MaxMinSolver::Start(uint32_t flow)
{
    m_flow[flow].isActive = true;
    m_started.push_back(flow);
    uint32_t hop = m_links.GetBegin(flow);
    for (const uint32_t link : m_links.Get(flow))
    {
        std::vector<Use>& uses = m_link[link].uses;
        m_position[hop] = static_cast<uint32_t>(uses.size());
        uses.push_back({flow, hop++});
    }
}

void
MaxMinSolver::Stop(uint32_t flow)
{
    const double rate = m_flow[flow].rate;
    m_flow[flow].isActive = false;
    m_flow[flow].rate = 0;
    uint32_t hop = m_links.GetBegin(flow);
    for (const uint32_t id : m_links.Get(flow))
    {
        Link& link = m_link[id];
        const Use last = link.uses.back();
        link.uses[m_position[hop]] = last;
        m_position[last.hop] = m_position[hop];
        link.uses.pop_back();
        link.free += rate;
        if (link.uses.empty())
        {
            link.isBottleneck = false;
            link.free = link.capacity;
            link.fastest = 0;
        }
        else if (link.isBottleneck)
        {
            m_freed.push_back(id);
        }
        ++hop;
    }
}

bool
MaxMinSolver::IsActive(uint32_t flow) const
{
    return m_flow[flow].isActive;
}

double
MaxMinSolver::GetRate(uint32_t flow) const
{
    return m_flow[flow].rate;
}

void
MaxMinSolver::AddState(StateDigest& digest) const
{
    for (uint32_t id = 0; id < m_link.size(); ++id)
    {
        if (m_link[id].isBottleneck)
        {
            digest.Add(id);
            digest.AddDouble(m_link[id].level);
        }
    }
}

} // namespace cosim
