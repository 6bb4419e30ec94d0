/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "workload/trace-plan.h"

#include <algorithm>

namespace cosim
{

TracePlan::TracePlan(const Trace& source)
    : trace(&source)
{
    const auto nodes = static_cast<uint32_t>(source.type.size());
    pending.resize(nodes);
    nextBegin.resize(nodes + 1);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        pending[i] = source.depBegin[i + 1] - source.depBegin[i];
        if (source.type[i] == NodeType::COMPUTE)
        {
            computes.push_back(i);
        }
        else if (source.type[i] == NodeType::COLLECTIVE)
        {
            collectives.emplace_back(source.collective[i], i);
        }
    }
    std::sort(collectives.begin(), collectives.end());
    for (const uint32_t dep : source.dep)
    {
        ++nextBegin[dep + 1];
    }
    for (uint32_t i = 0; i < nodes; ++i)
    {
        nextBegin[i + 1] += nextBegin[i];
    }
    next.resize(source.dep.size());
    std::vector<uint32_t> fill(nextBegin.begin(), nextBegin.end() - 1);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        for (uint32_t d = source.depBegin[i]; d < source.depBegin[i + 1]; ++d)
        {
            next[fill[source.dep[d]]++] = i;
        }
    }
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
