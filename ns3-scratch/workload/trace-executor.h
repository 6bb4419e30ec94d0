/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_EXECUTOR_H
#define COSIM_TRACE_EXECUTOR_H

#include "network/network-api.h"
#include "network/run-observers.h"
#include "stream/stream.h"
#include "support/ring-buffer.h"
#include "system/collective-engine.h"
#include "workload/trace-workers.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cosim
{

/// Hears how the workload goes.
class WorkloadListener
{
  public:
    virtual ~WorkloadListener() = default;

    /// Every node of every rank is done.
    virtual void OnWorkloadDone() = 0;

    /// @param report a sentence: nothing is under way, yet some ranks wait
    virtual void OnWorkloadDeadlock(const std::string& report) = 0;

    /// @param error a sentence: the run cannot go on
    virtual void OnWorkloadError(const std::string& error) = 0;

    /// A node that takes time was done: a moment to report progress.
    virtual void OnWorkloadActivity() = 0;
};

/**
 * Runs the traces of a stream: on each rank, a graph of nodes and one compute stream that takes
 * the COMPUTE nodes in their order.
 */
class TraceExecutor : public CollectiveListener
{
  public:
    /**
     * @param stream the work; its traces and collectives must outlive the executor
     * @param network carries the messages; must outlive the executor
     * @param observers hear of nodes, collectives and chunks
     * @param listener hears how it goes; not owned
     */
    TraceExecutor(const Stream& stream,
                  NetworkApi& network,
                  const RunObservers& observers,
                  WorkloadListener& listener);

    /// Start all nodes that depend on none. Call it inside an event.
    void Start();

    /// @return the payload of all messages of the work [bytes]
    uint64_t GetTotalBytes() const
    {
        return m_engine.GetTotalBytes() + m_workers.GetMessageBytes();
    }

    /// @return the scheduler of the collectives' chunks, for its statistics
    const ChunkScheduler& GetScheduler() const
    {
        return m_engine.GetScheduler();
    }

    /// @return a sentence that names the ranks that wait and what the first of them wait for
    std::string DescribeWaiting() const;

    void OnCollectiveDone(uint32_t collective, Rank rank) override;
    void OnEngineSettled() override;
    void OnEngineError(const std::string& error) override;

  private:
    /// A node that can start, or is done.
    struct Change
    {
        uint32_t worker;
        uint32_t node;
        bool isDone;
    };

    /// TIMER nodes that begin together.
    struct Gathering
    {
        uint64_t missing{0};         //!< that cannot begin yet
        std::vector<Change> waiting; //!< those that can
    };

    void Drain();
    void StartNode(uint32_t id, uint32_t node);
    void TryCompute(uint32_t id);
    void BeginNode(TraceWorker& worker, uint32_t node);
    void FinishNode(uint32_t id, uint32_t node);
    void FinishWorker();
    void StartMessage(uint32_t id, uint32_t node);
    void PostMessage(uint32_t id, uint32_t node);
    void OnNodeDone(uint32_t id, uint32_t node);
    void OnComputed(uint32_t id, uint32_t node);
    void StartTimer(uint32_t id, uint32_t node);
    void OnTimer(uint32_t id, uint32_t node);
    bool IsStuck() const;
    void CheckProgress();
    void OnProgressCheck();
    uint64_t Now() const;

    NetworkApi& m_network;
    RunObservers m_observers;
    WorkloadListener& m_listener;
    ns3::Time m_injectionLatency;
    CollectiveEngine m_engine;
    TraceWorkers m_workers;
    RingBuffer<Change> m_changes;
    bool m_draining{false};
    bool m_checking{false}; //!< OnProgressCheck is scheduled
    bool m_stopped{false};  //!< done, deadlocked or failed
    uint32_t m_workersLeft;
    uint64_t m_computing{0};                    //!< ranks
    uint64_t m_timers{0};                       //!< TIMER nodes under way
    std::map<uint64_t, Gathering> m_gatherings; //!< by tag
    uint64_t m_traffic{0};                      //!< messages of SEND and RECV nodes under way
};

} // namespace cosim

#endif // COSIM_TRACE_EXECUTOR_H
