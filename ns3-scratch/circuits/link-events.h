/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_EVENTS_H
#define COSIM_LINK_EVENTS_H

#include "network/fabric.h"
#include "network/link-change.h"
#include "network/link-control.h"
#include "network/live-links.h"
#include "network/run-observer.h"
#include "stream/stream.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The events of a scenario that change links: failures, repairs, other rates, and errors.
 *
 * Links change at the time of the event. Paths follow after the detection time. A flow whose path
 * has a link that is down meanwhile waits, or loses packets and recovers by its own timers. If no
 * path is left for data that waits, and no event to come brings a link up, the run fails with a
 * report of the ranks.
 */
class LinkEvents : private DemandListener
{
  public:
    /**
     * Schedule all events. Create this object at the start of the run.
     *
     * @param topology links, paths and events; must outlive this object
     * @param fabric the fabric; must outlive this object
     * @param observers notified of each event
     */
    LinkEvents(const Topology& topology, Fabric& fabric, const RunObservers& observers);
    ~LinkEvents() override;

    LinkEvents(const LinkEvents&) = delete;
    LinkEvents& operator=(const LinkEvents&) = delete;

  private:
    // DemandListener
    void OnDemand() override;

    void Happen(uint32_t event);
    void Follow(uint32_t event);
    void Report(uint32_t event, bool isReroute, uint32_t rerouted);
    void CheckDemand();
    void ScheduleCheck();

    const Topology& m_topology;
    Fabric& m_fabric;
    LinkControl& m_control;
    RunObservers m_observers;
    LiveLinks m_links;             //!< the links as this object has set them
    std::vector<uint32_t> m_downs; //!< per link: number of events that hold it down
    uint32_t m_pending{0};         //!< changes that are still to come, and detections of them
    uint32_t m_last{0};            //!< the latest event
    bool m_isBroken{false};        //!< true if some paths stay broken
    bool m_isChecking{false};      //!< true while a check is scheduled
};

/**
 * Schedule the link events of a topology.
 *
 * @param topology links, paths and events; must outlive the result
 * @param fabric the fabric, which has started; must outlive the result
 * @param observers notified of each event
 * @return the events, or null if there are none
 */
std::unique_ptr<LinkEvents> MakeLinkEvents(const Topology& topology,
                                           Fabric& fabric,
                                           const RunObservers& observers);

} // namespace cosim

#endif // COSIM_LINK_EVENTS_H
