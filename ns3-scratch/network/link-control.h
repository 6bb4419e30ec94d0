/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_CONTROL_H
#define COSIM_LINK_CONTROL_H

#include "network/live-links.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// Is notified when a fabric gets new messages to carry.
class DemandListener
{
  public:
    virtual ~DemandListener() = default;

    /// Called before the fabric begins to send messages that were handed to it now.
    virtual void OnDemand() = 0;
};

/**
 * Interface to change the links of a fabric during a run.
 *
 * Two drivers use it: a circuit switch, which plans its changes, and the events of a scenario,
 * which come unexpectedly. After an event the driver calls Resume at the same time as Pause.
 *
 * Each fabric whose links can change implements this interface once. The policy that decides about
 * the links calls it and belongs to no fabric. One change takes three calls: Pause, ApplyLinks,
 * Resume. Between Pause and Resume no new transmission begins. Packets that are already on a link
 * arrive if the change is planned. If a link fails, packets on it and in its queue are lost.
 */
class LinkControl
{
  public:
    LinkControl() = default;
    virtual ~LinkControl() = default;

    LinkControl(const LinkControl&) = delete;
    LinkControl& operator=(const LinkControl&) = delete;

    /// @param listener notified of each message that is handed to the fabric; not owned
    void SetDemandListener(DemandListener* listener)
    {
        m_listener = listener;
    }

    /**
     * Measure the demand that waits to be carried.
     *
     * @param bytes one entry per path; the call adds the bytes that were handed to the fabric and
     * have not arrived
     * @return true if the fabric may get more demand without another call of the listener
     */
    virtual bool MeasureDemand(std::vector<uint64_t>& bytes) const = 0;

    /// Pause all flows, because the links are about to change.
    virtual void Pause() = 0;

    /**
     * Change links while the flows are paused. Paths follow the new links at once.
     *
     * @param updates changed links, and new links in the order of their ids. A changed link keeps
     * its end nodes and its latency. A link that goes down keeps its rate for the packets that are
     * still on it.
     */
    virtual void ApplyLinks(std::span<const LinkUpdate> updates) = 0;

    /**
     * Let all paths follow the links that are up now, while the flows are paused. Paths over
     * circuits follow a change at once, so nothing is left to do for these.
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

    /// Resume the flows over the current links. A flow without a path stays paused.
    virtual void Resume() = 0;

    /**
     * Notify the listener. The fabric calls this before it begins to send one or more new messages.
     */
    void NoteDemand()
    {
        if (m_listener != nullptr)
        {
            m_listener->OnDemand();
        }
    }

  private:
    DemandListener* m_listener{nullptr};
};

} // namespace cosim

#endif // COSIM_LINK_CONTROL_H
