/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_H
#define COSIM_FABRIC_H

#include "network/network-api.h"
#include "network/network-statistics.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <functional>
#include <string>

namespace cosim
{

class LinkControl;

/**
 * A network that carries messages: what implements NetworkApi, plus set-up and measurement.
 */
class Fabric : public NetworkApi
{
  public:
    /// Called every few thousand packets, so that a run can report and be interrupted.
    using PollHook = std::function<void()>;

    /**
     * Build the network and establish every connection of topology's paths. May run the simulator
     * up to the moment at which all connections are established; SimGetTime counts from there.
     */
    virtual void Start() = 0;

    /// End RTT sampling and utilization accounting at the present time: the workload is done.
    virtual void Finish() = 0;

    /// @return the counters so far; link utilization relates to the time since Start
    virtual NetworkStatistics GetStatistics() const = 0;

    /// @return payload bytes delivered in order so far
    virtual uint64_t GetDeliveredBytes() const = 0;

    /// @return what changes the links during the run, or null if they stay as they are
    virtual LinkControl* GetLinkControl()
    {
        return nullptr;
    }

    /// @return a sentence if a flow failed for good (closed after too many RTOs), or nothing
    virtual std::string GetFailure() const = 0;

    /// @param observers hear of messages and losses, from now on
    virtual void SetObservers(const RunObservers& observers) = 0;

    /// @param hook called every few thousand packets
    virtual void SetPollHook(PollHook hook) = 0;
};

} // namespace cosim

#endif // COSIM_FABRIC_H
