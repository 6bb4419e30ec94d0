/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/max-min-solver.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cosim
{

const std::vector<uint32_t>&
MaxMinSolver::Solve()
{
    m_level = 0;
    for (const uint32_t link : m_freed)
    {
        AddOwned(link);
    }
    for (const uint32_t flow : m_started)
    {
        if (m_flow[flow].isActive && !(m_looksForAlone && AddAlone(flow)))
        {
            AddFlow(flow);
        }
    }
    QueueGrown();
    for (uint64_t key = m_order.GetFirstKey(); key != NEVER; key = m_order.GetFirstKey())
    {
        const uint32_t link = m_order.Pop();
        if (link >= m_link.size())
        {
            FillAlone(m_alone[link - m_link.size()]);
        }
        else if (key == m_users[link].queuedAt)
        {
            m_users[link].queuedAt = NEVER;
            Fill(link, std::bit_cast<double>(key));
            QueueGrown();
        }
    }
    m_order.Restart();
    Commit();
    return m_changed;
}

/// Queue a link at the level at which it may be full.
void
MaxMinSolver::Queue(uint32_t id)
{
    const uint64_t key = KeyOf(std::max(GetLevel(m_link[id]), m_level));
    if (key < m_users[id].queuedAt)
    {
        m_users[id].queuedAt = key;
        m_order.Push(key, id);
    }
}

/// Queue the links whose level has changed, because flows have become members.
void
MaxMinSolver::QueueGrown()
{
    for (const uint32_t id : m_grown)
    {
        Link& link = m_link[id];
        link.isGrown = false;
        if (link.rising == m_users[id].flows.size())
        { // the rounding errors of the rates end here
            link.free = m_users[id].capacity;
        }
        if (link.rising > 0)
        {
            Queue(id);
        }
    }
    m_grown.clear();
}

/// Process a link when the filling reaches the level for which the link was queued.
void
MaxMinSolver::Fill(uint32_t id, double key)
{
    Link& link = m_link[id];
    if (link.rising == 0)
    {
        return;
    }
    m_level = key;
    const double level = GetLevel(link);
    if (level > key * (1 + SAME))
    { // some of its flows have stopped at a lower level, or more flows rise
        Queue(id);
        return;
    }
    if (link.members == m_users[id].flows.size())
    {
        link.fastest = m_filled;
    }
    else if (link.fastest > key * (1 + SAME) && AddFaster(id, key))
    {
        return;
    }
    link.isFilled = true;
    m_users[id].level = m_filled = key > m_filled * (1 + SAME) ? key : m_filled;
    Freeze(id);
}

double
MaxMinSolver::GetLevel(const Link& link)
{
    return std::max(link.free, 0.0) / link.rising;
}

/// Fix the rates of the members that rise on a full link, which becomes their bottleneck.
void
MaxMinSolver::Freeze(uint32_t full)
{
    const double level = m_users[full].level;
    std::vector<uint32_t>& owned = m_users[full].owned;
    std::erase_if(owned, [&](uint32_t flow) { return m_flow[flow].bottleneck != full; });
    m_full.clear();
    for (const uint32_t flow : m_users[full].flows)
    {
        if (m_rate[flow] == RISING)
        {
            m_full.push_back(flow);
        }
    }
    owned.insert(owned.end(), m_full.begin(), m_full.end());
    ForEachLoaded(m_full, [&](uint32_t id) {
        Flow& flow = m_flow[id];
        m_rate[id] = level;
        flow.bottleneck = full;
        const bool isSlower = level < flow.before * (1 - UNCHANGED);
        for (const uint32_t hop : GetLinks(flow))
        {
            Link& link = m_link[hop];
            link.free -= level;
            link.fastest = std::max(link.fastest, level);
            --link.rising;
            if (isSlower && link.owned != 0 && !link.isFilled)
            { // the other flows can take what this flow leaves
                AddOwned(hop);
            }
        }
    });
    m_link[full].owned = static_cast<uint32_t>(owned.size());
}

void
MaxMinSolver::Commit()
{
    for (const uint32_t id : m_touched)
    {
        m_link[id].isTouched = false;
    }
    m_touched.clear();
    m_changed.clear();
    for (const uint32_t id : m_members)
    {
        Flow& flow = m_flow[id];
        flow.isMember = false;
        if (std::abs(m_rate[id] - flow.before) <= UNCHANGED * flow.before)
        {
            for (const uint32_t link : m_links.Get(id))
            {
                m_link[link].free += m_rate[id] - flow.before;
            }
            m_rate[id] = flow.before;
        }
        else
        {
            m_changed.push_back(id);
        }
    }
    m_members.clear();
    m_started.clear();
    m_freed.clear();
    m_alones = 0;
    m_filled = 0;
}

} // namespace cosim
