/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/max-min-solver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

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
    for (const uint32_t link : m_lowered)
    {
        for (const uint32_t flow : m_users[link].flows)
        {
            AddFlow(flow);
        }
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
    m_filled = key > m_filled * (1 + SAME) ? key : m_filled;
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
    const double level = m_filled;
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
    for (const uint32_t id : m_full)
    {
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
    }
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
    m_lowered.clear();
    m_alones = 0;
    m_filled = 0;
}

// Which flows become members, and how.

/// Make a flow a member that rises from the current level. Its rate is at least that level.
void
MaxMinSolver::AddFlow(uint32_t flow)
{
    Flow& added = m_flow[flow];
    if (added.isMember)
    {
        return;
    }
    added.isMember = true;
    added.before = std::exchange(m_rate[flow], RISING);
    Leave(flow);
    m_members.push_back(flow);
    for (const uint32_t id : GetLinks(added))
    {
        Link& link = m_link[id];
        if (!link.isTouched)
        {
            Touch(id);
        }
        ++link.members;
        ++link.rising;
        link.free += added.before;
        if (!link.isGrown)
        {
            link.isGrown = true;
            m_grown.push_back(id);
        }
    }
}

/**
 * Make a flow a member if no other flow uses its links. It gets the rate of the slowest one, so its
 * links need not be filled. Only the rounding of rates depends on other flows. Therefore such flows
 * wait in m_order for the level of their rate, all with the same rate in one place.
 *
 * @return false if another flow uses a link, or there are too many rates
 */
bool
MaxMinSolver::AddAlone(uint32_t flow)
{
    double least = std::numeric_limits<double>::infinity();
    for (const uint32_t id : m_links.Get(flow))
    {
        const Users& users = m_users[id];
        if (users.flows.size() != 1)
        {
            return false;
        }
        least = std::min(least, users.capacity);
    }
    const auto end = m_alone.begin() + m_alones;
    auto alone =
        std::find_if(m_alone.begin(), end, [least](const Alone& one) { return one.rate == least; });
    if (m_flow[flow].isMember || alone == m_alone.end() || std::isinf(least))
    {
        return false;
    }
    if (alone == end)
    {
        ++m_alones;
        alone->rate = least;
        m_order.Push(KeyOf(least),
                     static_cast<uint32_t>(m_link.size() + (alone - m_alone.begin())));
    }
    alone->flows.push_back(flow);
    m_flow[flow].isMember = true;
    m_flow[flow].before = m_rate[flow];
    m_members.push_back(flow);
    return true;
}

/// Fix the rates of flows that share no link, when the filling reaches their level.
void
MaxMinSolver::FillAlone(Alone& alone)
{
    m_level = alone.rate;
    m_filled = alone.rate > m_filled * (1 + SAME) ? alone.rate : m_filled;
    for (const uint32_t flow : alone.flows)
    {
        m_rate[flow] = m_filled;
        const std::span<const uint32_t> links = m_links.Get(flow);
        for (const uint32_t id : links)
        {
            m_link[id].free = m_users[id].capacity - m_filled;
            m_link[id].fastest = m_filled;
        }
        const uint32_t full = *std::ranges::find_if(links, [&](uint32_t id) {
            return m_users[id].capacity == alone.rate;
        });
        m_flow[flow].bottleneck = full;
        m_link[full].owned = 1;
        m_users[full].owned.assign(1, flow);
    }
    alone.flows.clear();
}

/// Make the flows members whose bottleneck is a link.
void
MaxMinSolver::AddOwned(uint32_t id)
{
    ++m_looks;
    for (const uint32_t flow : m_users[id].owned)
    {
        if (m_flow[flow].bottleneck == id)
        {
            AddFlow(flow);
        }
    }
}

/// Collect the flows of a link that do not rise and have more than a rate.
void
MaxMinSolver::FindFaster(uint32_t id, double rate)
{
    ++m_looks;
    m_faster.clear();
    double fastest = 0;
    for (const uint32_t flow : m_users[id].flows)
    {
        if (m_rate[flow] > rate)
        {
            m_faster.push_back(flow);
        }
        else
        {
            fastest = std::max(fastest, m_rate[flow]);
        }
    }
    m_link[id].fastest = fastest;
}

/**
 * Make the flows of a full link members that are faster than those that rise.
 *
 * @param level at least the level of the link, except for rounding
 * @return true if there are any
 */
bool
MaxMinSolver::AddFaster(uint32_t id, double level)
{
    FindFaster(id, level * (1 + SAME));
    if (m_faster.empty())
    {
        return false;
    }
    // Of them, those join that are still faster when the level has risen by what they leave.
    Link& link = m_link[id];
    double free = std::max(link.free, 0.0);
    for (const uint32_t flow : m_faster)
    {
        free += m_rate[flow];
    }
    std::size_t joining = 0;
    while (joining != m_faster.size())
    {
        joining = m_faster.size();
        const double reached = free / static_cast<double>(link.rising + joining) * (1 + SAME);
        std::erase_if(m_faster, [&](uint32_t flow) {
            const double rate = m_rate[flow];
            if (rate > reached)
            {
                return false;
            }
            free -= rate;
            link.fastest = std::max(link.fastest, rate);
            return true;
        });
    }
    for (const uint32_t flow : m_faster)
    {
        AddFlow(flow);
    }
    return !m_faster.empty();
}

void
MaxMinSolver::Touch(uint32_t id)
{
    Link& link = m_link[id];
    m_touched.push_back(id);
    link.isTouched = true;
    link.isFilled = false;
    link.members = link.rising = 0;
    m_users[id].queuedAt = NEVER;
}

} // namespace cosim
