/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_LINK_CONTROL_H
#define COSIM_FLOW_LINK_CONTROL_H

#include "network/link-control.h"
#include "network/link-routes.h"
#include "network/link-summary.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

class FlowFabric;

/**
 * Changes the links of a FlowFabric.
 *
 * During a pause the rates of all flows are 0, and the windows of slow start stop. Data that has
 * left its source arrives; so do messages that travel hop by hop, over the links from before the
 * pause. After the pause all flows continue over the current paths, with the windows that they had.
 * A flow holds its data at its source, so nothing has to be re-routed on its way.
 *
 * A change takes time for the paths that have links, that had them, or that have messages. With
 * circuits these are few of all pairs of ranks.
 */
class FlowLinkControl : public LinkControl
{
  public:
    /**
     * @param topology links and paths at the start of the run, with reconfiguration; must outlive
     * this object
     * @param fabric the fabric; must outlive this object
     */
    FlowLinkControl(const Topology& topology, FlowFabric& fabric);

    // LinkControl
    bool MeasureDemand(std::vector<uint64_t>& bytes) const override;
    void Pause() override;
    void ApplyLinks(std::span<const LinkUpdate> updates) override;
    uint32_t Reroute() override;
    std::vector<uint32_t> GetBrokenPaths() const override;
    void Resume() override;

    /// @param path a path that has data to send, and had none before
    void AddBusy(uint32_t path)
    {
        if (!m_states[path].isBusy)
        {
            m_states[path].isBusy = true;
            m_busy.push_back(path);
        }
    }

    /// @return the counters of each link since the start of the run
    std::vector<LinkCounters> GetLinkCounters() const;

  private:
    /// Data of a path that must survive a change of its links.
    struct PathState
    {
        /// part of its carried bytes that m_linkCounters includes [bytes on the wire]
        uint64_t counted{0};
        uint64_t pausedAt{0};  //!< begin of the pause; valid while paused [ps]
        bool isPaused{false};  //!< true if a change of the links pauses it
        bool isWaiting{false}; //!< while paused: true if it also waits for a window
        bool isBusy{false};    //!< true if it is in m_busy
    };

    void PausePath(uint32_t id, uint64_t now);
    void ResumePath(uint32_t id, uint64_t now);
    void CountLinks();
    void AddUses(std::vector<LinkCounters>& counters, std::vector<uint64_t>& carried) const;
    void Follow(const std::vector<uint32_t>& changed);
    void UpdateLinked(const std::vector<uint32_t>& changed);
    void ForgetIdle();

    const Topology& m_topology;
    FlowFabric& m_fabric;
    std::unique_ptr<LinkRoutes> m_routes;
    std::vector<PathState> m_states;          //!< state of each path
    std::vector<uint32_t> m_linked;           //!< paths that have links now, in increasing order
    std::vector<uint32_t> m_busy;             //!< all paths with messages, and some others
    std::vector<LinkCounters> m_linkCounters; //!< per link: counters up to the last change
    std::vector<uint64_t> m_carried;          //!< buffer of CountLinks: 0 for each link
};

} // namespace cosim

#endif // COSIM_FLOW_LINK_CONTROL_H
