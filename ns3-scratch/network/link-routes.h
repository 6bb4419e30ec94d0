/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_ROUTES_H
#define COSIM_LINK_ROUTES_H

#include "network/live-links.h"
#include "stream/stream.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

/// Decides which paths flows take over links that change during a run.
class LinkRoutes
{
  public:
    LinkRoutes() = default;
    virtual ~LinkRoutes() = default;

    LinkRoutes(const LinkRoutes&) = delete;
    LinkRoutes& operator=(const LinkRoutes&) = delete;

    /**
     * Change links, and the paths that follow them at once.
     *
     * @param updates the changed links; see LinkControl::ApplyLinks
     * @return all paths whose links may have changed, or the state of these links, in increasing
     * order
     */
    virtual std::vector<uint32_t> Apply(std::span<const LinkUpdate> updates) = 0;

    /**
     * Let all paths follow the links that are up now.
     *
     * @return the number of paths that have changed
     */
    virtual uint32_t Reroute()
    {
        return 0;
    }

    /// @return the paths that have no links or use a link that is down, in increasing order
    virtual std::vector<uint32_t> GetBrokenPaths() const
    {
        return {};
    }
};

/// @return all paths of a topology, in increasing order
std::vector<uint32_t> ListPaths(const Topology& topology);

/**
 * @param topology the topology at the start of the run
 * @return per path: its index among the paths of its pair of ranks
 */
std::vector<uint32_t> GetRoutes(const Topology& topology);

/**
 * Make the routes of a fabric without packets, on which a path with a link that is down stands
 * still.
 *
 * @param topology the topology at the start of the run; must outlive the routes
 * @param links the current links of the fabric; must outlive the routes
 * @return routes over circuits if the topology has these, and otherwise detours around links that
 * are down
 */
std::unique_ptr<LinkRoutes> MakeLinkRoutes(const Topology& topology, LiveLinks& links);

} // namespace cosim

#endif // COSIM_LINK_ROUTES_H
