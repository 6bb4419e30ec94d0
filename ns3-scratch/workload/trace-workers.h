/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_WORKERS_H
#define COSIM_TRACE_WORKERS_H

#include "network/network-api.h"
#include "stream/stream.h"
#include "workload/trace-plan.h"

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

namespace cosim
{

/// Nodes of a rank that share slots: a processor, or streams of communication.
struct Lane
{
    uint32_t freeSlots;
    /// nodes whose dependencies are done, lowest index first
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready{};
};

/// A rank with the state of its trace.
struct TraceWorker
{
    static constexpr uint32_t NONE = ~uint32_t{0}; //!< marks "no node"

    /// What `pending` has of a node that has begun, and of one that is done.
    static constexpr uint32_t BEGUN = NONE - 1;
    static constexpr uint32_t DONE = NONE;

    /**
     * @param ofRank the rank that runs the trace
     * @param ofTrace plan of the trace; must outlive the worker
     * @param ofNodes what the nodes wait for, as in the plan; must outlive the worker
     */
    TraceWorker(Rank ofRank, const TracePlan& ofTrace, std::span<uint32_t> ofNodes);

    /// @return the next COMPUTE node if it can start now, otherwise NONE
    uint32_t GetStartableCompute() const
    {
        if (isComputing || nextCompute == plan->computes.size())
        {
            return NONE;
        }
        const uint32_t node = plan->computes[nextCompute];
        return pending[node] == 0 ? node : NONE;
    }

    /// Pass COMPUTE nodes that a failure of their job has ended.
    void SkipDone()
    {
        while (!isComputing && nextCompute < plan->computes.size() &&
               pending[plan->computes[nextCompute]] == DONE)
        {
            ++nextCompute;
        }
    }

    /// @return the lane of a node, from 1; 0: none
    uint32_t GetLane(uint32_t node) const
    {
        return plan->trace->lane.empty() ? 0 : plan->trace->lane[node];
    }

    Rank rank;
    const TracePlan* plan;
    /// per node: number of dependencies that are not done; BEGUN; DONE
    std::span<uint32_t> pending;
    uint32_t nextCompute{0}; //!< index in TracePlan::computes
    bool isComputing{false};
    std::vector<Lane> lanes;
    uint32_t nodesLeft;
};

/// The workers of all ranks that have a trace.
class TraceWorkers
{
  public:
    /// @param stream the workload; its traces must outlive the workers
    explicit TraceWorkers(const Stream& stream);

    /// @return all workers, ordered by trace
    const std::vector<TraceWorker>& GetAll() const
    {
        return m_workers;
    }

    /// @return a worker
    TraceWorker& Get(uint32_t id)
    {
        return m_workers[id];
    }

    /// @return a worker
    const TraceWorker& Get(uint32_t id) const
    {
        return m_workers[id];
    }

    /// @return the id of the worker of a rank; the rank must have a trace
    uint32_t GetId(Rank rank) const
    {
        return m_idOf[rank];
    }

    /// @return the number of workers
    uint32_t GetCount() const
    {
        return static_cast<uint32_t>(m_workers.size());
    }

    /// @return payload of all SEND nodes [bytes]
    uint64_t GetMessageBytes() const
    {
        return m_messageBytes;
    }

  private:
    std::vector<TracePlan> m_plans;
    std::vector<uint32_t> m_pending; //!< of all workers
    std::vector<TraceWorker> m_workers;
    std::vector<uint32_t> m_idOf; //!< per rank: id of its worker
    uint64_t m_messageBytes{0};
};

} // namespace cosim

#endif // COSIM_TRACE_WORKERS_H
