/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/tree-packing.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{
/// Greatest number of nodes for which all trees grow together.
constexpr uint32_t MOST_TOGETHER = 96;
} // namespace

TreePacking::TreePacking(const Capacities& graph, std::span<const int64_t> wanted)
    : m_nodes(graph.nodes),
      m_source(graph.source.begin(), graph.source.end()),
      m_target(graph.target.begin(), graph.target.end()),
      m_left(graph.capacity.begin(), graph.capacity.end()),
      m_outOf(graph.nodes)
{
    Check(graph);
    if (wanted.size() != m_nodes)
    {
        throw std::invalid_argument("expected a number of trees for each node");
    }
    for (uint32_t link = 0; link < m_source.size(); ++link)
    {
        m_outOf[m_source[link]].push_back(link);
    }
    for (uint32_t node = m_nodes; node-- > 0;)
    {
        if (wanted[node] > 0)
        {
            Bundle bundle{{node, wanted[node], {}}, {node}, {0}, std::vector<uint8_t>(m_nodes)};
            bundle.isReached[node] = 1;
            m_unfinished.push_back(std::move(bundle));
        }
    }
}

std::vector<Tree>
TreePacking::Run()
{
    std::vector<Tree> result;
    while (!m_unfinished.empty())
    {
        // The bundle that is least deep grows next, so that no tree is left with the links that
        // the others do not want, which would make it deep. Every flow visits all bundles that have
        // begun, so if there are many nodes, one bundle is completed after the other.
        auto next = m_unfinished.end() - 1;
        if (m_nodes <= MOST_TOGETHER)
        {
            next = std::ranges::min_element(m_unfinished, {}, [](const Bundle& bundle) {
                return bundle.depth[bundle.next];
            });
        }
        Bundle bundle = std::move(*next);
        m_unfinished.erase(next);
        Grow(bundle);
        if (bundle.reached.size() == m_nodes)
        {
            result.push_back(std::move(bundle.tree));
        }
        else
        {
            m_unfinished.push_back(std::move(bundle));
        }
    }
    return result;
}

void
TreePacking::Grow(Bundle& bundle)
{
    // A link that cannot be added will never be possible later, so no node is tried twice.
    for (const uint32_t link : m_outOf[bundle.reached[bundle.next]])
    {
        Extend(bundle, link);
    }
    ++bundle.next;
    if (bundle.next == bundle.reached.size() && bundle.next < m_nodes)
    {
        throw std::invalid_argument("the trees from node " + std::to_string(bundle.tree.root) +
                                    " do not fit into the capacities");
    }
}

void
TreePacking::Extend(Bundle& bundle, uint32_t link)
{
    const uint32_t target = m_target[link];
    if (bundle.isReached[target] != 0 || m_left[link] == 0)
    {
        return;
    }
    const int64_t room = FindRoom(bundle, link);
    if (room == 0)
    {
        return;
    }
    if (room < bundle.tree.weight)
    {
        Bundle rest = bundle;
        rest.tree.weight -= room;
        bundle.tree.weight = room;
        m_unfinished.push_back(std::move(rest));
    }
    m_left[link] -= bundle.tree.weight;
    bundle.tree.links.push_back(link);
    bundle.reached.push_back(target);
    bundle.depth.push_back(bundle.depth[bundle.next] + 1);
    bundle.isReached[target] = 1;
}

int64_t
TreePacking::FindRoom(const Bundle& bundle, uint32_t link)
{
    // The least of (links into A) - (trees that have not reached A) over all sets A that contain
    // the link's target and not its source. Every unfinished bundle gets a node: what flows into it
    // may enter A at any node that the bundle has reached.
    const int64_t most = std::min(m_left[link], bundle.tree.weight);
    MaxFlow flow(m_nodes + static_cast<uint32_t>(m_unfinished.size()));
    const uint32_t source = m_source[link];
    int64_t others = 0;
    for (uint32_t i = 0; i < m_unfinished.size(); ++i)
    {
        const Bundle& other = m_unfinished[i];
        others += other.tree.weight;
        if (other.reached.size() == 1)
        {
            if (other.tree.root != source)
            {
                flow.AddArc(source, other.tree.root, other.tree.weight);
            }
            continue;
        }
        flow.AddArc(source, m_nodes + i, other.tree.weight);
        for (const uint32_t node : other.reached)
        {
            if (node != source)
            {
                flow.AddArc(m_nodes + i, node, MaxFlow::UNLIMITED);
            }
        }
    }
    for (uint32_t arc = 0; arc < m_source.size(); ++arc)
    {
        if (m_left[arc] > 0 && m_target[arc] != source)
        {
            flow.AddArc(m_source[arc], m_target[arc], m_left[arc]);
        }
    }
    return std::max<int64_t>(0, flow.Run(source, m_target[link], others + most) - others);
}

} // namespace cosim
