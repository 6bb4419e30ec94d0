/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/shallow-trees.h"

#include "graphs/max-flow.h"

#include <algorithm>
#include <limits>
#include <random>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();

/// A node of the trees of one root, and the links over which it may get their data.
struct Leaf
{
    uint32_t firstArc; //!< the arc of the first of the links; the others follow
    std::vector<uint32_t> links;
};

/// The links of a digraph that carry something, by the node that they leave or enter.
class Neighbours
{
  public:
    explicit Neighbours(const Capacities& graph)
        : m_graph(graph),
          m_outOf(graph.nodes),
          m_into(graph.nodes)
    {
        for (uint32_t link = 0; link < graph.source.size(); ++link)
        {
            if (graph.capacity[link] > 0)
            {
                m_outOf[graph.source[link]].push_back(link);
                m_into[graph.target[link]].push_back(link);
            }
        }
    }

    /// @return the nodes that a root reaches, nearest first, and for all nodes the hops from it
    std::pair<std::vector<uint32_t>, std::vector<uint32_t>> Search(uint32_t root) const
    {
        std::vector<uint32_t> hops(m_graph.nodes, FAR);
        std::vector<uint32_t> reached{root};
        hops[root] = 0;
        for (std::size_t next = 0; next < reached.size(); ++next)
        {
            const uint32_t node = reached[next];
            for (const uint32_t link : m_outOf[node])
            {
                const uint32_t target = m_graph.target[link];
                if (hops[target] == FAR)
                {
                    hops[target] = hops[node] + 1;
                    reached.push_back(target);
                }
            }
        }
        return {std::move(reached), std::move(hops)};
    }

    /// @return the links into a node from nodes that are one hop nearer to the root
    std::vector<uint32_t> GetNearer(uint32_t node, std::span<const uint32_t> hops) const
    {
        std::vector<uint32_t> result;
        std::ranges::copy_if(m_into[node], std::back_inserter(result), [&](uint32_t link) {
            return hops[m_graph.source[link]] + 1 == hops[node];
        });
        return result;
    }

  private:
    const Capacities& m_graph;
    std::vector<std::vector<uint32_t>> m_outOf;
    std::vector<std::vector<uint32_t>> m_into;
};

/// Divides the trees of one root into bundles of equal ones.
void
AppendTrees(uint32_t root,
            int64_t trees,
            std::span<const Leaf> leaves,
            const MaxFlow& flow,
            std::vector<Tree>& result)
{
    // Tree i takes, at each leaf, the link at which the sum of the links' flows exceeds i.
    std::vector<std::size_t> taken(leaves.size(), 0);
    std::vector<int64_t> end(leaves.size(), 0);
    for (int64_t first = 0; first < trees;)
    {
        int64_t last = trees;
        Tree tree{root, 0, {}};
        for (std::size_t i = 0; i < leaves.size(); ++i)
        {
            const Leaf& leaf = leaves[i];
            while (end[i] <= first)
            {
                end[i] += flow.GetFlow(leaf.firstArc + static_cast<uint32_t>(taken[i]++));
            }
            tree.links.push_back(leaf.links[taken[i] - 1]);
            last = std::min(last, end[i]);
        }
        tree.weight = last - first;
        result.push_back(std::move(tree));
        first = last;
    }
}

} // namespace

std::optional<std::vector<Tree>>
FindShallowTrees(const Capacities& graph, std::span<const int64_t> wanted)
{
    Check(graph);
    if (wanted.size() != graph.nodes)
    {
        throw std::invalid_argument("expected a number of trees for each node");
    }
    const auto links = static_cast<uint32_t>(graph.source.size());
    const auto roots =
        static_cast<uint32_t>(std::ranges::count_if(wanted, [](int64_t n) { return n > 0; }));
    // From the origin to the leaves, from each leaf to its links, from the links to the end.
    const uint32_t firstLeaf = links;
    const uint32_t origin = firstLeaf + roots * (graph.nodes - 1);
    MaxFlow flow(origin + 2);
    for (uint32_t link = 0; link < links; ++link)
    {
        flow.AddArc(link, origin + 1, graph.capacity[link]);
    }
    const Neighbours neighbours(graph);
    std::vector<std::vector<Leaf>> leavesOf(graph.nodes);
    std::vector<std::pair<uint32_t, uint32_t>> order; // of the leaves: root, and place in its trees
    for (uint32_t root = 0; root < graph.nodes; ++root)
    {
        if (wanted[root] <= 0)
        {
            continue;
        }
        const auto [reached, hops] = neighbours.Search(root);
        if (reached.size() < graph.nodes)
        {
            return std::nullopt;
        }
        for (const uint32_t node : std::span(reached).subspan(1))
        {
            order.emplace_back(root, static_cast<uint32_t>(leavesOf[root].size()));
            leavesOf[root].push_back({0, neighbours.GetNearer(node, hops)});
        }
    }
    // Earlier leaves get the links that they want. In the order of the roots, these links would
    // carry data of other depths than the rest.
    std::mt19937 numbers(1); // std::shuffle differs between libraries
    for (std::size_t left = order.size(); left > 1; --left)
    {
        std::swap(order[left - 1], order[numbers() % left]);
    }
    int64_t all = 0;
    for (uint32_t next = firstLeaf; const auto& [root, place] : order)
    {
        Leaf& leaf = leavesOf[root][place];
        flow.AddArc(origin, next, wanted[root]);
        all += wanted[root];
        leaf.firstArc = flow.GetArcs();
        for (const uint32_t link : leaf.links)
        {
            flow.AddArc(next, link, wanted[root]);
        }
        ++next;
    }
    if (flow.Run(origin, origin + 1, all) < all)
    {
        return std::nullopt;
    }
    std::vector<Tree> result;
    for (uint32_t root = 0; root < graph.nodes; ++root)
    {
        AppendTrees(root, wanted[root], leavesOf[root], flow, result);
    }
    return result;
}

} // namespace cosim
