/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/target-search.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace cosim
{

namespace
{

/**
 * Sort the links by one of their ends.
 *
 * @param end for each link, the node or place
 * @param ends number of nodes or places
 * @param begin set to the first link of each of them in the result, and the end
 * @return the links, in the order of their ids for each of them
 */
std::vector<uint32_t>
SortBy(std::span<const uint32_t> end, std::size_t ends, std::vector<std::size_t>& begin)
{
    begin.assign(ends + 1, 0);
    for (const uint32_t one : end)
    {
        if (one >= ends)
        {
            throw std::invalid_argument("a link joins nodes that do not exist");
        }
        ++begin[one + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    std::vector<uint32_t> links(end.size());
    for (uint32_t link = 0; link < end.size(); ++link)
    {
        links[next[end[link]]++] = link;
    }
    return links;
}

} // namespace

TargetSearch::TargetSearch(const CostView& links)
    : m_links(links),
      m_out(SortBy(links.source, links.nodes, m_outBegin)),
      m_in(SortBy(links.place, links.places, m_inBegin)),
      m_cost(links.places, std::numeric_limits<double>::infinity()),
      m_isReached(links.places),
      m_isSource(links.places)
{
    const auto isHere = [&links](uint32_t node) { return node < links.nodes; };
    if (!std::ranges::all_of(links.target, isHere) || links.target.size() != links.source.size() ||
        links.place.size() != links.source.size() || links.cost.size() != links.source.size())
    {
        throw std::invalid_argument("a link joins nodes that do not exist");
    }
    if (!std::ranges::all_of(links.cost, [](double cost) { return cost > 0; }))
    {
        throw std::invalid_argument("the cost of a link is not above 0");
    }
}

void
TargetSearch::Run(uint32_t target, std::span<const uint32_t> sources)
{
    for (const uint32_t place : m_labelled)
    {
        m_cost[place] = std::numeric_limits<double>::infinity();
        m_isReached[place] = 0;
    }
    m_labelled.clear();
    m_reached.clear();
    m_heap.clear();
    std::size_t missing = 0;
    for (const uint32_t source : sources)
    {
        missing += m_isSource[source] == 0;
        m_isSource[source] = 1;
    }
    Label(target, 0);
    while (!m_heap.empty() && missing != 0)
    {
        std::ranges::pop_heap(m_heap, std::greater<>());
        const auto [cost, place] = m_heap.back();
        m_heap.pop_back();
        if (m_isReached[place] == 0)
        {
            m_isReached[place] = 1;
            m_reached.push_back(place);
            missing -= static_cast<std::size_t>(m_isSource[place]);
            Relax(place, cost);
        }
    }
    for (const uint32_t source : sources)
    {
        m_isSource[source] = 0;
    }
}

/// Look at the nodes from which links lead to a place.
void
TargetSearch::Relax(uint32_t place, double cost)
{
    for (std::size_t i = m_inBegin[place]; i < m_inBegin[place + 1]; ++i)
    {
        const uint32_t link = m_in[i];
        const double through = cost + m_links.cost[link];
        if (through < m_cost[m_links.source[link]])
        {
            Label(m_links.source[link], through);
        }
    }
}

void
TargetSearch::Label(uint32_t place, double cost)
{
    if (m_cost[place] == std::numeric_limits<double>::infinity())
    {
        m_labelled.push_back(place);
    }
    m_cost[place] = cost;
    m_heap.emplace_back(cost, place);
    std::ranges::push_heap(m_heap, std::greater<>());
}

} // namespace cosim
