/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/link-routes.h"

#include "network/circuit-routes.h"
#include "network/detour-routes.h"

#include <numeric>

namespace cosim
{

std::vector<uint32_t>
ListPaths(const Topology& topology)
{
    std::vector<uint32_t> paths(topology.pathSource.size());
    std::iota(paths.begin(), paths.end(), 0);
    return paths;
}

std::vector<uint32_t>
GetRoutes(const Topology& topology)
{
    std::vector<uint32_t> routes;
    routes.reserve(topology.pathSource.size());
    for (std::size_t path = 0; path < topology.pathSource.size(); ++path)
    {
        const bool isFurther = path > 0 &&
                               topology.pathSource[path] == topology.pathSource[path - 1] &&
                               topology.pathTarget[path] == topology.pathTarget[path - 1];
        routes.push_back(isFurther ? routes.back() + 1 : 0);
    }
    return routes;
}

std::unique_ptr<LinkRoutes>
MakeLinkRoutes(const Topology& topology, LiveLinks& links)
{
    if (topology.reconfiguration.intervalPs > 0)
    {
        return std::make_unique<CircuitRoutes>(topology, links);
    }
    return std::make_unique<DetourRoutes>(topology, links, DetourRoutes::Broken::STANDS_STILL);
}

} // namespace cosim
