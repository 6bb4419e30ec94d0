/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/capacities.h"

#include "graphs/max-flow.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

namespace cosim
{

void
Check(const Capacities& graph)
{
    const std::size_t links = graph.source.size();
    if (graph.target.size() != links || graph.capacity.size() != links)
    {
        throw std::invalid_argument("expected a source, a target and a capacity for each link");
    }
    for (std::size_t link = 0; link < links; ++link)
    {
        if (std::max(graph.source[link], graph.target[link]) >= graph.nodes ||
            graph.capacity[link] < 0)
        {
            throw std::invalid_argument("link " + std::to_string(link) +
                                        ": expected nodes that exist and a capacity of at least 0");
        }
    }
}

Cut
FindTightestCut(const Capacities& graph, std::span<const int64_t> supply, uint32_t receivers)
{
    Check(graph);
    if (supply.size() != graph.nodes || receivers > graph.nodes)
    {
        throw std::invalid_argument("expected a supply for each node");
    }
    const int64_t wanted = std::reduce(supply.begin(), supply.end());
    const uint32_t origin = graph.nodes;
    MaxFlow flow(graph.nodes + 1);
    for (uint32_t node = 0; node < graph.nodes; ++node)
    {
        flow.AddArc(origin, node, supply[node]);
    }
    for (std::size_t link = 0; link < graph.source.size(); ++link)
    {
        flow.AddArc(graph.source[link], graph.target[link], graph.capacity[link]);
    }
    for (uint32_t receiver = 0; receiver < receivers; ++receiver)
    {
        if (flow.Run(origin, receiver, wanted) < wanted)
        {
            Cut cut{false, {}};
            for (uint32_t node = 0; node < graph.nodes; ++node)
            {
                cut.side.push_back(flow.IsOnSourceSide(node) ? 1 : 0);
            }
            return cut;
        }
    }
    return {true, {}};
}

} // namespace cosim
