/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_LINK_CONTROL_H
#define COSIM_FLOW_LINK_CONTROL_H

#include "network/link-control.h"
#include "network/link-routes.h"
#include "network/link-summary.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

class FlowFabric;

/**
 * Changes the links of a FlowFabric.
 *
 * While flows pause, their rates are 0, and slow start's windows wait as long. What has left its
 * source arrives. Then all flows continue over the paths as they are now, with the windows that
 * they have. A flow is where its source is, so nothing is re-routed on its way.
 */
class FlowLinkControl : public LinkControl
{
  public:
    /**
     * @param topology of the start, with reconfiguration; outlives this object
     * @param fabric the fabric; outlives this object
     */
    FlowLinkControl(const Topology& topology, FlowFabric& fabric);

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    void Resume() override;

    /// @return what every link did since the start
    std::vector<LinkCounters> GetLinkCounters() const;

  private:
    /// What is kept of a path whose links change.
    struct Past
    {
        uint64_t counted{0};   //!< of what it carried, in m_linkCounters [bytes on the wire]
        uint64_t pausedAt{0};  //!< while paused [ps]
        bool isPaused{false};  //!< by a change of the links
        bool isWaiting{false}; //!< while paused: for a window, too
    };

    void PausePath(uint32_t id, uint64_t now);
    void ResumePath(uint32_t id, uint64_t now);
    void CountLinks();
    void PreparePaths();

    FlowFabric& m_fabric;
    LinkRoutes m_routes;
    std::vector<Past> m_past;                 //!< per path
    std::vector<LinkCounters> m_linkCounters; //!< per link, up to the last change
};

} // namespace cosim

#endif // COSIM_FLOW_LINK_CONTROL_H
