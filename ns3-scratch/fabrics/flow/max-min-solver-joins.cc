/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The part of MaxMinSolver that decides which flows become members, and makes them so.

#include "fabrics/flow/max-min-solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace cosim
{

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
        m_users[full].level = m_filled;
    }
    alone.flows.clear();
}

/// Make the flows members whose bottleneck is a link.
void
MaxMinSolver::AddOwned(uint32_t id)
{
    ++m_looks;
    ForEachLoaded(m_users[id].owned, [&](uint32_t flow) {
        if (m_flow[flow].bottleneck == id)
        {
            AddFlow(flow);
        }
    });
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
    ForEachLoaded(m_faster, [&](uint32_t flow) { AddFlow(flow); });
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
