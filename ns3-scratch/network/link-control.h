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

/// Hears that a fabric has something to carry.
class DemandListener
{
  public:
    virtual ~DemandListener() = default;

    /// Messages were handed to the fabric, which has not begun to send them.
    virtual void OnDemand() = 0;
};

/**
 * Changes the links of a fabric during a run.
 *
 * Each fabric whose links can change implements it once. What decides about links drives it from
 * outside, and is part of no fabric. A change takes three calls: Pause, ApplyLinks, Resume. Between
 * Pause and Resume, nothing begins to be sent; what is on a link arrives.
 */
class LinkControl
{
  public:
    LinkControl() = default;
    virtual ~LinkControl() = default;

    LinkControl(const LinkControl&) = delete;
    LinkControl& operator=(const LinkControl&) = delete;

    /// @param listener hears of each message that is handed to the fabric; not owned
    void SetDemandListener(DemandListener* listener)
    {
        m_listener = listener;
    }

    /**
     * Measure what waits to be carried.
     *
     * @param bytes per path: what was handed to the fabric and has not arrived is added
     * @return whether the fabric will have more to carry without another call of the listener
     */
    virtual bool MeasureDemand(std::vector<uint64_t>& bytes) const = 0;

    /// Stop all flows: the links are about to change.
    virtual void Pause() = 0;

    /**
     * Change links while the flows pause. Paths follow the links at once.
     *
     * @param updates links that change, and new ones in the order of their ids; a link keeps its
     * ends and its latency, and one that goes down keeps its rate for what is still on it
     */
    virtual void ApplyLinks(std::span<const LinkUpdate> updates) = 0;

    /// Continue over the links as they are now. A flow without a path stays paused.
    virtual void Resume() = 0;

    /// Called by the fabric for each message, or several at once, before it begins to send them.
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
