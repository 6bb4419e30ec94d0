/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabrics/flow/class-solver.h"

#include <algorithm>
#include <utility>

namespace cosim
{

ClassSolver::ClassSolver(std::size_t flows, std::vector<uint8_t> classes)
    : m_classOf(std::move(classes)),
      m_solver(flows)
{
    for (const uint8_t trafficClass : m_classOf)
    {
        m_classes = std::max(m_classes, trafficClass + 1U);
    }
}

uint32_t
ClassSolver::AddLink(double capacity)
{
    const uint32_t first = m_solver.AddLink(capacity);
    for (uint32_t more = 1; more < m_classes; ++more)
    {
        m_solver.AddLink(capacity);
    }
    return first / m_classes;
}

void
ClassSolver::SetCapacity(uint32_t link, double capacity)
{
    for (uint32_t trafficClass = 0; trafficClass < m_classes; ++trafficClass)
    {
        m_solver.SetCapacity(Of(link, trafficClass), capacity);
    }
}

void
ClassSolver::SetLinks(uint32_t flow, std::span<const uint32_t> links)
{
    m_ofClass.clear();
    for (const uint32_t link : links)
    {
        m_ofClass.push_back(Of(link, GetClass(flow)));
    }
    m_solver.SetLinks(flow, m_ofClass);
}

void
ClassSolver::Stop(uint32_t flow)
{
    m_solver.Stop(flow);
    Touch(flow);
}

const std::vector<uint32_t>&
ClassSolver::Solve()
{
    if (m_classes == 1)
    {
        return m_solver.Solve();
    }
    m_changed.clear();
    do
    {
        for (const uint32_t flow : m_solver.Solve())
        {
            m_changed.push_back(flow);
            Touch(flow);
        }
    } while (ShareLinks());
    return m_changed;
}

/// Note that a flow may leave more or less of its links to lower classes.
void
ClassSolver::Touch(uint32_t flow)
{
    if (GetClass(flow) + 1 < m_classes)
    {
        const std::span<const uint32_t> links = m_solver.GetLinks(flow);
        m_touched.insert(m_touched.end(), links.begin(), links.end());
    }
}

/**
 * Give each class what the class above leaves of the touched links.
 *
 * @return whether that has changed anything
 */
bool
ClassSolver::ShareLinks()
{
    bool hasChanged = false;
    // A class passes on what it leaves before the one below it does.
    for (uint32_t& link : m_touched)
    {
        link = link / m_classes;
    }
    std::ranges::sort(m_touched);
    const auto same = std::ranges::unique(m_touched);
    m_touched.erase(same.begin(), same.end());
    for (const uint32_t link : m_touched)
    {
        const double whole = m_solver.GetCapacity(Of(link, 0));
        for (uint32_t trafficClass = 1; trafficClass < m_classes; ++trafficClass)
        {
            const uint32_t shared = Of(link, trafficClass);
            const double left = m_solver.GetFree(Of(link, trafficClass - 1));
            const double room = left > LEAST_SHARE * whole ? left : 0;
            if (room != m_solver.GetCapacity(shared))
            {
                m_solver.SetCapacity(shared, room);
                hasChanged = true;
            }
        }
    }
    m_touched.clear();
    return hasChanged;
}

} // namespace cosim
