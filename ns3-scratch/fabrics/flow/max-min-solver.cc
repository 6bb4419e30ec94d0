/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/max-min-solver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cosim
{

namespace
{

/// Rates that differ by less than this share count as the same rate.
constexpr double SAME = 1e-9;

/// A rate that moves by less than this share counts as unchanged.
constexpr double UNCHANGED = 1e-13;

/// Stands in for the rate of a flow that still rises while solving.
constexpr double RISING = -1;

constexpr uint64_t NEVER = RadixQueue<uint32_t>::NEVER;

/// @return a key that orders non-negative rates like the rates themselves
uint64_t
KeyOf(double rate)
{
    return std::bit_cast<uint64_t>(rate);
}

} // namespace

const std::vector<uint32_t>&
MaxMinSolver::Solve()
{
    m_level = 0;
    for (const uint32_t link : m_freed)
    {
        AddFastest(m_link[link], m_link[link].level);
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
        else if (key == m_link[link].queuedAt)
        {
            m_link[link].queuedAt = NEVER;
            Fill(link, std::bit_cast<double>(key));
            QueueGrown();
        }
    }
    m_order.Restart();
    Commit();
    return m_changed;
}

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
    added.before = added.rate;
    m_members.push_back(flow);
    for (const uint32_t id : m_links.Get(flow))
    {
        Touch(id);
        Link& link = m_link[id];
        ++link.members;
        ++link.rising;
        // If all flows rise, the rounding errors of their rates end here.
        link.free = link.rising == link.uses.size() ? link.capacity : link.free + added.before;
        if (!link.isGrown)
        {
            link.isGrown = true;
            m_grown.push_back(id);
        }
    }
    added.rate = RISING;
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
        const Link& link = m_link[id];
        if (link.uses.size() != 1)
        {
            return false;
        }
        least = std::min(least, link.capacity);
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
    m_flow[flow].before = m_flow[flow].rate;
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
        m_flow[flow].rate = m_filled;
        const std::span<const uint32_t> links = m_links.Get(flow);
        for (const uint32_t id : links)
        {
            m_link[id].isBottleneck = false;
            m_link[id].free = m_link[id].capacity - m_filled;
            m_link[id].fastest = m_filled;
        }
        Link& full = m_link[*std::ranges::find_if(links, [&](uint32_t id) {
            return m_link[id].capacity == alone.rate;
        })];
        full.isBottleneck = true;
        full.level = m_filled;
    }
    alone.flows.clear();
}

/// Make the flows of a link with at least this rate members.
void
MaxMinSolver::AddFastest(const Link& link, double rate)
{
    ++m_looks;
    m_joining.clear();
    for (const Use& use : link.uses)
    {
        const Flow& flow = m_flow[use.flow];
        if (!flow.isMember && flow.rate >= rate * (1 - SAME))
        {
            m_joining.push_back(use.flow);
            __builtin_prefetch(m_links.Get(use.flow).data());
        }
    }
    for (const uint32_t flow : m_joining)
    {
        AddFlow(flow);
    }
}

void
MaxMinSolver::Touch(uint32_t id)
{
    Link& link = m_link[id];
    if (!link.isTouched)
    {
        m_touched.push_back(id);
        link.isTouched = true;
        link.isFilled = link.isYielded = false;
        link.members = link.rising = 0;
        link.queuedAt = NEVER;
    }
}

/// Queue a link at the level at which it may be full.
void
MaxMinSolver::Queue(uint32_t id)
{
    Link& link = m_link[id];
    const uint64_t key = KeyOf(std::max(GetLevel(link), m_level));
    if (key < link.queuedAt)
    {
        link.queuedAt = key;
        m_order.Push(key, id);
    }
}

/// Queue the links whose level has changed, because flows have become members.
void
MaxMinSolver::QueueGrown()
{
    for (const uint32_t link : m_grown)
    {
        m_link[link].isGrown = false;
        if (m_link[link].rising > 0)
        {
            Queue(link);
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
    if (link.fastest > key * (1 + SAME))
    {
        const double fastest = GetFastest(link);
        link.fastest = std::max(fastest, m_filled);
        if (fastest > key * (1 + SAME))
        {
            AddFastest(link, fastest);
            return;
        }
    }
    link.isFilled = true;
    link.level = m_filled = key > m_filled * (1 + SAME) ? key : m_filled;
    Freeze(link);
}

double
MaxMinSolver::GetLevel(const Link& link)
{
    return std::max(link.free, 0.0) / link.rising;
}

/// @return the largest rate of the flows of a link that are not members, or 0
double
MaxMinSolver::GetFastest(const Link& link) const
{
    double fastest = 0;
    if (link.members != link.uses.size())
    {
        for (const Use& use : link.uses)
        {
            const Flow& flow = m_flow[use.flow];
            fastest = flow.isMember ? fastest : std::max(fastest, flow.rate);
        }
    }
    return fastest;
}

/// Fix the rates of the members that rise on a full link.
void
MaxMinSolver::Freeze(const Link& full)
{
    for (const Use& use : full.uses)
    {
        Flow& flow = m_flow[use.flow];
        if (flow.rate != RISING)
        {
            continue;
        }
        flow.rate = full.level;
        const bool isSlower = flow.rate < flow.before * (1 - UNCHANGED);
        for (const uint32_t id : m_links.Get(use.flow))
        {
            Link& link = m_link[id];
            link.free -= full.level;
            link.fastest = std::max(link.fastest, full.level);
            --link.rising;
            if (isSlower && link.isBottleneck && !link.isFilled && !link.isYielded)
            { // other flows can take what this flow leaves; adding them once is enough
                link.isYielded = true;
                AddFastest(link, link.level);
            }
        }
    }
}

void
MaxMinSolver::Commit()
{
    for (const uint32_t id : m_touched)
    {
        Link& link = m_link[id];
        link.isTouched = false;
        // A link that was not filled again is still the bottleneck of the flows that were not
        // looked at.
        link.isBottleneck =
            link.isFilled || (link.isBottleneck && GetFastest(link) >= link.level * (1 - SAME));
    }
    m_touched.clear();
    m_changed.clear();
    for (const uint32_t id : m_members)
    {
        Flow& flow = m_flow[id];
        if (std::abs(flow.rate - flow.before) <= UNCHANGED * flow.before)
        {
            for (const uint32_t link : m_links.Get(id))
            {
                m_link[link].free += flow.rate - flow.before;
            }
            flow.rate = flow.before;
        }
        else
        {
            m_changed.push_back(id);
        }
    }
    for (const uint32_t id : m_members)
    {
        m_flow[id].isMember = false;
    }
    m_members.clear();
    m_started.clear();
    m_freed.clear();
    m_alones = 0;
    m_filled = 0;
}

} // namespace cosim
