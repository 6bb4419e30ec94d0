/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of MaxMinSolver that keeps the active flows and their links between two solutions.

#include "fabrics/flow/max-min-solver.h"

#include <utility>

namespace cosim
{

MaxMinSolver::MaxMinSolver(std::size_t flows)
    : m_links(flows),
      m_flow(flows),
      m_rate(flows)
{
}

void
MaxMinSolver::SetCapacity(uint32_t id, double capacity)
{
    Link& link = m_link[id];
    Users& users = m_users[id];
    const double more = capacity - std::exchange(users.capacity, capacity);
    if (users.flows.empty())
    {
        link.free = capacity;
        return;
    }
    link.free += more;
    if (more > 0 && link.owned != 0)
    {
        m_freed.push_back(id);
    }
    else if (link.free < -UNCHANGED * capacity)
    {
        m_lowered.push_back(id);
    }
}

void
MaxMinSolver::SetLinks(uint32_t flow, std::span<const uint32_t> links)
{
    m_links.Set(flow, links);
    m_flow[flow].begin = m_links.GetBegin(flow);
    m_flow[flow].end = m_links.GetBegin(flow) + static_cast<uint32_t>(links.size());
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
        Users& users = m_users[link];
        m_position[hop] = static_cast<uint32_t>(users.flows.size());
        users.flows.push_back(flow);
        users.hops.push_back(hop++);
    }
}

void
MaxMinSolver::Stop(uint32_t flow)
{
    const double rate = std::exchange(m_rate[flow], 0);
    m_flow[flow].isActive = false;
    Leave(flow);
    uint32_t hop = m_links.GetBegin(flow);
    for (const uint32_t id : m_links.Get(flow))
    {
        Link& link = m_link[id];
        Users& users = m_users[id];
        const uint32_t position = m_position[hop++];
        const uint32_t last = users.hops.back();
        users.flows[position] = users.flows.back();
        users.hops[position] = last;
        m_position[last] = position;
        users.flows.pop_back();
        users.hops.pop_back();
        link.free += rate;
        if (users.flows.empty())
        {
            link.free = users.capacity;
            link.fastest = 0;
            users.owned.clear();
        }
        else if (link.owned != 0)
        {
            m_freed.push_back(id);
        }
    }
}

/// Take a flow from its bottleneck.
void
MaxMinSolver::Leave(uint32_t flow)
{
    const uint32_t bottleneck = std::exchange(m_flow[flow].bottleneck, NONE);
    if (bottleneck != NONE)
    {
        --m_link[bottleneck].owned;
    }
}

bool
MaxMinSolver::IsActive(uint32_t flow) const
{
    return m_flow[flow].isActive;
}

} // namespace cosim
