/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "numbered-paths.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace cosim
{

NumberedPaths::NumberedPaths(std::size_t nodes, const CostView& links)
    : m_links(links),
      m_nodes(nodes),
      m_begin(nodes + 1),
      m_out(links.source.size()),
      m_count(links.places),
      m_order(nodes)
{
    for (std::size_t link = 0; link < links.source.size(); ++link)
    {
        if (links.source[link] >= nodes || links.target[link] >= nodes ||
            links.place[link] >= links.places)
        {
            throw std::invalid_argument("a link joins nodes that do not exist");
        }
        ++m_begin[links.source[link] + 1];
    }
    std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
    std::vector<std::size_t> next(m_begin.begin(), m_begin.end() - 1);
    for (std::size_t link = 0; link < links.source.size(); ++link)
    {
        m_out[next[links.source[link]]++] = static_cast<uint32_t>(link);
    }
    std::iota(m_order.begin(), m_order.end(), 0U);
}

void
NumberedPaths::SetTarget(std::span<const double> distance)
{
    m_distance = distance;
    for (std::size_t place = 0; place < m_count.size(); ++place)
    {
        m_count[place] = distance[place] == 0 ? 1 : 0;
    }
    std::ranges::sort(m_order, {}, [distance](uint32_t node) { return distance[node]; });
    for (const uint32_t node : m_order)
    {
        const double left = distance[node];
        if (left == 0 || std::isinf(left))
        {
            continue;
        }
        int64_t ways = 0;
        for (std::size_t i = m_begin[node]; i < m_begin[node + 1]; ++i)
        {
            ways = std::min(ways + CountNext(m_out[i], left), MOST);
        }
        m_count[node] = ways;
    }
}

int64_t
NumberedPaths::GetNumber(uint32_t from, int64_t first, int64_t route, int64_t routes) const
{
    const int64_t paths = m_count[from];
    if (paths == 0)
    {
        throw std::invalid_argument("there is no path");
    }
    // The sum may wrap around, as it does in NumPy.
    const uint64_t sum =
        static_cast<uint64_t>(first) + static_cast<uint64_t>(route * paths / routes);
    const int64_t rest = static_cast<int64_t>(sum) % paths;
    return rest < 0 ? rest + paths : rest;
}

/// @return number of shortest paths over a link from a node with this distance
int64_t
NumberedPaths::CountNext(uint32_t link, double left) const
{
    const uint32_t place = m_links.place[link];
    return m_distance[place] + m_links.cost[link] == left ? m_count[place] : 0;
}

void
NumberedPaths::Follow(uint32_t from,
                      uint32_t to,
                      int64_t number,
                      std::vector<uint32_t>& links) const
{
    double left = m_distance[from];
    for (uint32_t at = from; at != to;)
    {
        const auto out = std::span(m_out).subspan(m_begin[at], m_begin[at + 1] - m_begin[at]);
        const auto next = std::ranges::find_if(out, [&](uint32_t link) {
            const int64_t ways = CountNext(link, left);
            number -= ways;
            return number < 0;
        });
        if (next == out.end())
        {
            throw std::invalid_argument("there is no such path");
        }
        const uint32_t link = *next;
        number += CountNext(link, left);
        links.push_back(link);
        left -= m_links.cost[link];
        at = m_links.target[link];
    }
}

} // namespace cosim
