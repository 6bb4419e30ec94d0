/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/numbered-paths.h"

#include <algorithm>

namespace cosim
{

NumberedPaths::NumberedPaths(const TargetSearch& search)
    : m_search(search),
      m_count(search.GetLinks().places)
{
}

void
NumberedPaths::Count()
{
    for (const uint32_t place : m_counted)
    {
        m_count[place] = 0;
    }
    const auto reached = m_search.GetReached();
    m_counted.assign(reached.begin(), reached.end());
    m_count[m_counted.front()] = 1; // the target
    for (std::size_t i = 1; i < m_counted.size(); ++i)
    {
        const uint32_t node = m_counted[i];
        int64_t ways = 0;
        for (const uint32_t link : m_search.GetOut(node))
        {
            ways = std::min(ways + CountNext(link, m_search.GetCost(node)), MOST);
        }
        m_count[node] = ways;
    }
}

int64_t
NumberedPaths::GetNumber(uint32_t from, int64_t first, int64_t route, int64_t routes) const
{
    const int64_t paths = m_count[from];
    // The sum may wrap around, as it does in NumPy.
    const uint64_t sum =
        static_cast<uint64_t>(first) + static_cast<uint64_t>(route * paths / routes);
    const int64_t rest = static_cast<int64_t>(sum) % paths;
    return rest < 0 ? rest + paths : rest;
}

/// @return number of shortest paths over a link from a node with a cost
int64_t
NumberedPaths::CountNext(uint32_t link, double cost) const
{
    return m_search.IsNext(link, cost) ? m_count[m_search.GetLinks().place[link]] : 0;
}

void
NumberedPaths::Follow(uint32_t from,
                      uint32_t to,
                      int64_t number,
                      std::vector<uint32_t>& links) const
{
    const CostView& view = m_search.GetLinks();
    double left = m_search.GetCost(from);
    for (uint32_t at = from; at != to;)
    {
        const auto out = m_search.GetOut(at);
        const uint32_t link = *std::ranges::find_if(out, [&](uint32_t one) {
            number -= CountNext(one, left);
            return number < 0;
        });
        number += CountNext(link, left);
        links.push_back(link);
        left -= view.cost[link];
        at = view.target[link];
    }
}

} // namespace cosim
