/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-plan.h"

#include <algorithm>

namespace cosim
{

namespace
{

/**
 * @param depBegin per node: index of its first entry in dep; empty if there are no dependencies
 * @param dep the nodes that each node waits for
 * @param pending per node: number of its dependencies, to which these are added
 * @return the dependents of each node, by increasing index
 */
Dependents
Invert(const std::vector<uint32_t>& depBegin,
       const std::vector<uint32_t>& dep,
       std::vector<uint32_t>& pending)
{
    Dependents inverse;
    if (depBegin.empty())
    {
        return inverse;
    }
    const auto nodes = static_cast<uint32_t>(pending.size());
    inverse.begin.resize(nodes + 1);
    for (const uint32_t node : dep)
    {
        ++inverse.begin[node + 1];
    }
    for (uint32_t i = 0; i < nodes; ++i)
    {
        inverse.begin[i + 1] += inverse.begin[i];
        pending[i] += depBegin[i + 1] - depBegin[i];
    }
    inverse.nodes.resize(dep.size());
    std::vector<uint32_t> fill(inverse.begin.begin(), inverse.begin.end() - 1);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        for (uint32_t d = depBegin[i]; d < depBegin[i + 1]; ++d)
        {
            inverse.nodes[fill[dep[d]]++] = i;
        }
    }
    return inverse;
}

} // namespace

TracePlan::TracePlan(const Trace& source)
    : trace(&source),
      pending(source.type.size()),
      next(Invert(source.depBegin, source.dep, pending)),
      startNext(Invert(source.startDepBegin, source.startDep, pending))
{
    for (uint32_t i = 0; i < pending.size(); ++i)
    {
        const bool isInLane = !source.lane.empty() && source.lane[i] != 0;
        if (source.type[i] == NodeType::COMPUTE && !isInLane)
        {
            computes.push_back(i);
        }
        else if (source.type[i] == NodeType::COLLECTIVE)
        {
            collectives.emplace_back(source.collective[i], i);
        }
    }
    std::sort(collectives.begin(), collectives.end());
}

uint32_t
TracePlan::FindNode(uint32_t id) const
{
    return std::lower_bound(collectives.begin(),
                            collectives.end(),
                            std::pair<uint32_t, uint32_t>(id, 0))
        ->second;
}

} // namespace cosim
