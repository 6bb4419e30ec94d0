/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_H
#define COSIM_FABRIC_H

#include "network/flow-record.h"
#include "network/link-summary.h"
#include "network/live-links.h"
#include "network/network-api.h"
#include "network/network-statistics.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <functional>
#include <string>
#include <vector>

namespace cosim
{

class LinkControl;

/**
 * A simulated network that carries messages between ranks.
 *
 * A fabric implements NetworkApi and adds what a run needs around it: set-up, observers, counters
 * and the report of a failure. Each derived class simulates the network at a different level of
 * detail.
 */
class Fabric : public NetworkApi
{
  public:
    /**
     * Build the network and establish the connection of each path of the topology.
     *
     * This may run the simulator up to the time at which all connections are established.
     * SimGetTime counts from that time.
     */
    virtual void Start() = 0;

    /// Stop RTT sampling and utilization accounting now. Call it when the workload is done.
    virtual void Finish() = 0;

    /// @return the counters so far; link utilization is relative to the time since Start
    virtual NetworkStatistics GetStatistics() const = 0;

    /// @return the links and paths as they are now
    virtual const LiveLinks& GetLiveLinks() const = 0;

    /// @return the counters of each link since Start, in the order of GetLiveLinks
    virtual std::vector<LinkCounters> GetLinks() const = 0;

    /// @return the counters of one link since Start
    virtual LinkCounters GetLink(uint32_t link) const
    {
        return GetLinks()[link];
    }

    /// @return the time since Start, or from Start to Finish, to which busy times relate [ps]
    virtual uint64_t GetElapsed() const = 0;

    /**
     * @param path index of a path of the topology
     * @return the counters of the flow of this path
     */
    virtual const FlowCounters& GetFlow(uint32_t path) const = 0;

    /**
     * @param path index of a path of the topology
     * @return the state of the flow of this path now; 0 for what an estimator does not have
     */
    virtual FlowState GetFlowState(uint32_t path) const = 0;

    /**
     * @param q a quantile, 0 … 1
     * @return the completion time that the share q of the messages did not exceed [ps]
     */
    virtual uint64_t GetCompletionQuantilePs(double q) const = 0;

    /// @return the payload bytes that were delivered in order so far, also of unfinished messages
    virtual uint64_t GetDeliveredBytes() const = 0;

    /// @return the packets that were sent into the first link of a path so far; 0 in estimators
    virtual uint64_t GetSentPackets() const = 0;

    /**
     * @return the object that changes the links during a run, or null if this fabric cannot change
     * them
     */
    virtual LinkControl* GetLinkControl()
    {
        return nullptr;
    }

    /**
     * @return a sentence that describes the failed flow (TCP closes a flow after too many RTOs), or
     * an empty string if no flow has failed
     */
    virtual std::string GetFailure() const = 0;

    /**
     * @return whether the simulator was stopped because ranks of a folded topology would not all do
     * the same: messages came in the same picosecond, and their order differs from rank to rank
     */
    virtual bool IsAmbiguous() const
    {
        return false;
    }

    /**
     * Let the connection of a path carry nothing any more, because the processes at its ends have
     * failed. What is not delivered never will be; messages that were, or will be, sent with SimPut
     * arrive at once, so that nobody waits for them. Packets that are on links are lost at the end
     * of their path. Estimators carry everything to its end.
     *
     * @param path index of a path of the topology
     */
    virtual void Abandon(uint32_t /* path */)
    {
    }

    /**
     * Stop the simulator because the run cannot continue.
     *
     * @param failure the sentence that GetFailure returns from now on
     */
    virtual void Fail(const std::string& failure) = 0;

    /// @param observers the observers that receive events from now on
    virtual void SetObservers(const RunObservers& observers) = 0;
};

} // namespace cosim

#endif // COSIM_FABRIC_H
