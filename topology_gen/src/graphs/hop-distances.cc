/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/hop-distances.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

constexpr uint32_t UNSEEN = std::numeric_limits<uint32_t>::max();

/**
 * Searches breadth-first from every root.
 *
 * @param nodes number of nodes
 * @param roots the nodes to start from
 * @param visit calls its second argument with every node that the first one is linked to
 * @return the distances from the roots
 */
template <typename Visit>
HopDistances
Search(uint32_t nodes, std::span<const uint32_t> roots, Visit visit)
{
    std::vector<uint32_t> seenBy(nodes, UNSEEN); // the last root that reached the node
    std::vector<uint32_t> order(nodes);
    HopDistances result{0, 0};
    for (const uint32_t root : roots)
    {
        if (root >= nodes)
        {
            throw std::invalid_argument("root " + std::to_string(root) + " is not a node");
        }
        order[0] = root;
        seenBy[root] = root;
        std::size_t reached = 1;
        std::size_t done = 0;
        for (uint32_t distance = 1; done < reached; ++distance)
        {
            const std::size_t layer = reached;
            for (; done < layer; ++done)
            {
                visit(order[done], [&](uint32_t node) {
                    if (seenBy[node] != root)
                    {
                        seenBy[node] = root;
                        order[reached++] = node;
                    }
                });
            }
            if (reached > layer)
            {
                result.greatest = std::max(result.greatest, distance);
                result.sum += uint64_t{distance} * (reached - layer);
            }
        }
        if (reached < nodes)
        {
            throw std::invalid_argument("node " + std::to_string(root) + " reaches only " +
                                        std::to_string(reached - 1) + " of " +
                                        std::to_string(nodes - 1) + " others");
        }
    }
    return result;
}

} // namespace

HopDistances
FindDistances(const LinkTable& outLinks, std::span<const uint32_t> roots)
{
    return Search(outLinks.GetNodes(), roots, [&outLinks](uint32_t node, auto reach) {
        for (const auto& link : outLinks.GetInLinks(node))
        {
            reach(link.from);
        }
    });
}

HopDistances
FindRuleDistances(uint32_t nodes, std::span<const uint32_t> target, uint32_t roots)
{
    if (nodes == 0 || target.size() % nodes != 0 || roots > nodes ||
        std::ranges::any_of(target, [nodes](uint32_t node) { return node >= nodes; }))
    {
        throw std::invalid_argument("expected a node for every rule and node");
    }
    std::vector<uint32_t> every(roots);
    std::iota(every.begin(), every.end(), 0);
    return Search(nodes, every, [target, nodes](uint32_t node, auto reach) {
        for (std::size_t link = node; link < target.size(); link += nodes)
        {
            reach(target[link]);
        }
    });
}

} // namespace cosim
