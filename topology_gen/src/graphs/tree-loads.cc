/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/tree-loads.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

constexpr double UNSEEN = std::numeric_limits<double>::infinity();

} // namespace

TreeLoads::TreeLoads(uint32_t nodes,
                     std::span<const uint32_t> source,
                     std::span<const uint32_t> target,
                     std::span<const uint32_t> linkClass,
                     std::span<const double> length)
    : m_outLinks(nodes, target, source),
      m_linkClass(linkClass.begin(), linkClass.end()),
      m_length(length.begin(), length.end())
{
    const auto isUnknown = [this](uint32_t index) { return index >= m_length.size(); };
    if (m_linkClass.size() != m_outLinks.GetLinks() || std::ranges::any_of(m_linkClass, isUnknown))
    {
        throw std::invalid_argument("expected a class with a length for every link");
    }
}

double
TreeLoads::Run(uint32_t root, std::span<double> loads) const
{
    struct Arrival
    {
        uint32_t from;
        uint32_t linkClass;
    };

    const uint32_t nodes = m_outLinks.GetNodes();
    if (root >= nodes)
    {
        throw std::invalid_argument("root " + std::to_string(root) + " is not a node");
    }
    std::vector<double> distance(nodes, UNSEEN);
    std::vector<Arrival> arrival(nodes);
    std::vector<uint32_t> order;
    order.reserve(nodes);
    std::vector<bool> isDone(nodes);
    using Entry = std::pair<double, uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[root] = 0;
    queue.emplace(0, root);
    double total = 0;
    while (!queue.empty())
    {
        const auto [hops, node] = queue.top();
        queue.pop();
        if (isDone[node])
        {
            continue;
        }
        isDone[node] = true;
        order.push_back(node);
        total += hops;
        for (const auto& outLink : m_outLinks.GetInLinks(node))
        {
            const uint32_t index = m_linkClass[outLink.link];
            const double length = hops + m_length[index];
            if (length < distance[outLink.from])
            {
                distance[outLink.from] = length;
                arrival[outLink.from] = {node, index};
                queue.emplace(length, outLink.from);
            }
        }
    }
    if (order.size() < nodes)
    {
        throw std::invalid_argument("node " + std::to_string(root) + " reaches only " +
                                    std::to_string(order.size() - 1) + " of " +
                                    std::to_string(nodes - 1) + " others");
    }
    std::ranges::fill(loads, 0);
    std::vector<double> wanted(nodes, 1);
    for (std::size_t i = order.size(); i-- > 1;)
    {
        const auto [from, index] = arrival[order[i]];
        loads[index] += wanted[order[i]];
        wanted[from] += wanted[order[i]];
    }
    return total;
}

} // namespace cosim
