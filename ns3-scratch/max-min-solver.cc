/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "max-min-solver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace cosim
{

namespace
{

/// Rates closer than this share of themselves are the same one, rounded differently.
constexpr double SAME = 1e-9;

/// A rate that moves by less than this share of itself has not changed.
constexpr double UNCHANGED = 1e-13;

/// @return a number in whose order that of non-negative rates is
uint64_t
KeyOf(double rate)
{
    return std::bit_cast<uint64_t>(rate);
}

} // namespace

MaxMinSolver::MaxMinSolver(std::vector<double> capacities,
                           std::vector<uint32_t> begin,
                           std::vector<uint32_t> links)
    : m_begin(std::move(begin)),
      m_links(std::move(links)),
      m_position(m_links.size()),
      m_link(capacities.size()),
      m_flow(m_begin.size() - 1)
{
    for (std::size_t i = 0; i < capacities.size(); ++i)
    {
        m_link[i].capacity = capacities[i];
    }
}

void
MaxMinSolver::Start(uint32_t flow)
{
    m_flow[flow].isActive = true;
    m_started.push_back(flow);
    for (uint32_t hop = m_begin[flow]; hop < m_begin[flow + 1]; ++hop)
    {
        std::vector<Use>& uses = m_link[m_links[hop]].uses;
        m_position[hop] = static_cast<uint32_t>(uses.size());
        uses.push_back({flow, hop});
    }
}

void
MaxMinSolver::Stop(uint32_t flow)
{
    m_flow[flow].isActive = false;
    m_flow[flow].rate = 0;
    for (uint32_t hop = m_begin[flow]; hop < m_begin[flow + 1]; ++hop)
    {
        Link& link = m_link[m_links[hop]];
        const Use last = link.uses.back();
        link.uses[m_position[hop]] = last;
        m_position[last.hop] = m_position[hop];
        link.uses.pop_back();
        if (link.isBottleneck)
        {
            m_freed.push_back(m_links[hop]);
        }
    }
}

const std::vector<uint32_t>&
MaxMinSolver::Solve()
{
    for (const uint32_t flow : m_started)
    {
        if (m_flow[flow].isActive)
        {
            AddFlow(flow);
        }
    }
    for (const uint32_t link : m_freed)
    {
        AddLink(link);
    }
    do
    {
        Close();
        Fill();
    } while (Expand());
    Commit();
    return m_changed;
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

std::span<const uint32_t>
MaxMinSolver::GetLinks(uint32_t flow) const
{
    return std::span(m_links).subspan(m_begin[flow], m_begin[flow + 1] - m_begin[flow]);
}

void
MaxMinSolver::AddFlow(uint32_t flow)
{
    Flow& added = m_flow[flow];
    if (!added.isMember)
    {
        added.isMember = true;
        added.before = added.rate;
        m_component.push_back(flow);
    }
}

void
MaxMinSolver::AddLink(uint32_t link)
{
    if (!m_link[link].isWhole)
    {
        m_link[link].isWhole = true;
        m_whole.push_back(link);
        for (const Use& use : m_link[link].uses)
        {
            AddFlow(use.flow);
        }
    }
}

void
MaxMinSolver::Close()
{
    for (; m_closed < m_component.size(); ++m_closed)
    {
        for (const uint32_t link : GetLinks(m_component[m_closed]))
        {
            if (m_link[link].isBottleneck)
            {
                AddLink(link);
            }
        }
    }
}

void
MaxMinSolver::Fill()
{
    for (const uint32_t link : m_touched)
    {
        m_link[link].isTouched = false;
    }
    m_touched.clear();
    for (const uint32_t flow : m_component)
    {
        m_flow[flow].rate = -1; // rises
        for (const uint32_t id : GetLinks(flow))
        {
            Link& link = m_link[id];
            if (!link.isTouched)
            {
                link.isTouched = true;
                link.isFilled = false;
                link.members = 0;
                m_touched.push_back(id);
            }
            ++link.members;
        }
    }
    for (const uint32_t id : m_touched)
    {
        Link& link = m_link[id];
        link.rising = link.members;
        link.free = link.capacity;
        if (link.members != link.uses.size())
        { // the rest keeps its rates
            for (const Use& use : link.uses)
            {
                link.free -= m_flow[use.flow].isMember ? 0 : m_flow[use.flow].rate;
            }
        }
        m_order.Push(KeyOf(GetLevel(link)), id);
    }
    double level = 0;
    for (uint64_t key = m_order.GetFirstKey(); key != RadixQueue<uint32_t>::NEVER;
         key = m_order.GetFirstKey())
    {
        const uint32_t id = m_order.Pop();
        Link& link = m_link[id];
        if (link.rising == 0)
        {
            continue;
        }
        // Since the link was queued, some of its flows may have stopped below its level.
        const double now = GetLevel(link);
        if (now > std::bit_cast<double>(key) * (1 + SAME))
        {
            m_order.Push(KeyOf(now), id);
            continue;
        }
        level = now > level * (1 + SAME) ? now : level;
        link.isFilled = true;
        link.level = level;
        Freeze(link, level);
    }
    m_order.Restart();
}

double
MaxMinSolver::GetLevel(const Link& link)
{
    return std::max(link.free, 0.0) / link.rising;
}

void
MaxMinSolver::Freeze(const Link& link, double level)
{
    for (const Use& use : link.uses)
    {
        Flow& flow = m_flow[use.flow];
        if (flow.isMember && flow.rate < 0)
        {
            flow.rate = level;
            for (const uint32_t id : GetLinks(use.flow))
            {
                m_link[id].free -= level;
                --m_link[id].rising;
            }
        }
    }
}

bool
MaxMinSolver::Expand()
{
    for (const uint32_t id : m_touched)
    {
        const Link& link = m_link[id];
        const auto isFaster = [this, &link](const Use& use) {
            const Flow& flow = m_flow[use.flow];
            return !flow.isMember && flow.rate > link.level * (1 + SAME);
        };
        if (link.isFilled && !link.isWhole && link.members != link.uses.size() &&
            std::any_of(link.uses.begin(), link.uses.end(), isFaster))
        {
            AddLink(id);
        }
    }
    return m_closed != m_component.size();
}

void
MaxMinSolver::Commit()
{
    for (const uint32_t link : m_freed)
    {
        m_link[link].isBottleneck = false; // unless it is filled again
    }
    for (const uint32_t id : m_touched)
    {
        m_link[id].isBottleneck = m_link[id].isFilled;
        m_link[id].isTouched = false;
    }
    for (const uint32_t link : m_whole)
    {
        m_link[link].isWhole = false;
    }
    m_changed.clear();
    for (const uint32_t id : m_component)
    {
        Flow& flow = m_flow[id];
        flow.isMember = false;
        if (std::abs(flow.rate - flow.before) <= UNCHANGED * flow.before)
        {
            flow.rate = flow.before;
        }
        else
        {
            m_changed.push_back(id);
        }
    }
    m_component.clear();
    m_closed = 0;
    m_touched.clear();
    m_whole.clear();
    m_started.clear();
    m_freed.clear();
}

} // namespace cosim
