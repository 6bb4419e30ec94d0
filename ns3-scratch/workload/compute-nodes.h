/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COMPUTE_NODES_H
#define COSIM_COMPUTE_NODES_H

#include "network/network-api.h"
#include "network/run-observers.h"
#include "stream/stream.h"
#include "workload/compute-speeds.h"
#include "workload/trace-workers.h"

#include "ns3/event-id.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace cosim
{

/**
 * The COMPUTE nodes of all traces that run. A node takes its duration, with the speed of its rank.
 *
 * Collectives may slow down the computations of their members while they run
 * (Collective::slowsPpm), because both need the same processors. Of several, the one that slows
 * most counts. What is left of a computation then takes longer from the time at which the
 * collective begins, and its usual time again from the time at which it is done.
 */
class ComputeNodes
{
  public:
    /// Is called with the worker and the node when a node is done.
    using Done = std::function<void(uint32_t worker, uint32_t node)>;

    /**
     * @param stream the workload; must outlive this object
     * @param workers its traces; must outlive this object
     * @param network supplies the time; must outlive this object
     * @param observers notified when a rank changes its speed
     * @param done called inside an event of its own
     */
    ComputeNodes(const Stream& stream,
                 const TraceWorkers& workers,
                 const NetworkApi& network,
                 const RunObservers& observers,
                 Done done);

    ComputeNodes(const ComputeNodes&) = delete;
    ComputeNodes& operator=(const ComputeNodes&) = delete;

    /// Schedule the events that change speeds. Call it at the start of the run.
    void Start();

    /**
     * Begin a node.
     *
     * @return false if it takes no time: then it is done, and `done` is not called
     */
    bool Begin(uint32_t worker, uint32_t node);

    /// A rank begins its part of a collective.
    void BeginCollective(uint32_t worker, uint32_t collective);

    /// A rank has done its part of a collective.
    void EndCollective(uint32_t worker, uint32_t collective);

    /// @return the number of nodes that run
    uint64_t GetRunning() const
    {
        return m_running;
    }

  private:
    static constexpr uint64_t USUAL_PPM = 1'000'000; //!< factor when no collective slows

    /// A node that runs while collectives can slow it down.
    struct Computation
    {
        uint32_t node;
        uint64_t leftPs;  //!< of its time when nothing slows it down, at `sincePs`
        uint64_t sincePs; //!< when it began, or its factor changed
        ns3::EventId end;
    };

    /// A rank that collectives slow down.
    struct Processor
    {
        std::vector<Computation> computations;
        std::vector<uint32_t> slowsPpm; //!< of the collectives that run
        uint64_t factorPpm{USUAL_PPM};  //!< of the usual time, parts of 10^6
    };

    void Adapt(uint32_t worker);
    void ScheduleEnd(uint32_t worker, Computation& computation);
    void OnEnd(uint32_t worker, uint32_t node);
    uint64_t Now() const;

    const Stream& m_stream;
    const TraceWorkers& m_workers;
    const NetworkApi& m_network;
    Done m_done;
    ComputeSpeeds m_speeds;
    std::vector<Processor> m_processors; //!< per worker; empty if no collective slows
    uint64_t m_running{0};
};

} // namespace cosim

#endif // COSIM_COMPUTE_NODES_H
