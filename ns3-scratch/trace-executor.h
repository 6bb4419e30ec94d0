/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_EXECUTOR_H
#define COSIM_TRACE_EXECUTOR_H

#include "collective-engine.h"
#include "network-api.h"
#include "ring-buffer.h"
#include "stream.h"
#include "timing-record.h"
#include "trace-plan.h"

#include <cstdint>
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
 *
 * While the compute stream has to wait, the time from its last COMPUTE node to the end of the
 * collective or receive that it waited for is exposed communication, and counts for the layer and
 * the iteration of the dependency that finished last. Where that one was started during the wait,
 * the time before its start counts for the one that it waited for in turn, and so on. The wait
 * after a rank's last COMPUTE node is counted likewise.
 */
class TraceExecutor : public CollectiveListener
{
  public:
    /**
     * @param stream the work; its traces and collectives must outlive the executor
     * @param network carries the messages; must outlive the executor
     * @param listener hears how it goes; not owned
     */
    TraceExecutor(const Stream& stream, NetworkApi& network, WorkloadListener& listener);

    /// Start all nodes that depend on none. Call it inside an event.
    void Start();

    /// @return the payload of all messages of the work [bytes]
    uint64_t GetTotalBytes() const;

    /// @return where the time went
    const TimingRecord& GetTiming() const;

    /// @return the collectives' runs
    const CollectiveEngine& GetEngine() const;

    /// @return a sentence that names the ranks that wait and what the first of them wait for
    std::string DescribeWaiting() const;

    void OnCollectiveDone(uint32_t collective, Rank rank) override;
    void OnEngineSettled() override;
    void OnEngineError(const std::string& error) override;

  private:
    /// One rank.
    struct Worker
    {
        Rank rank;
        const TracePlan* plan;
        std::vector<uint32_t> pending; //!< per node
        std::vector<uint64_t> start;   //!< per node [ps], or UNKNOWN
        std::vector<uint64_t> end;     //!< per node [ps], or UNKNOWN
        uint32_t nextCompute{0};       //!< into TracePlan::computes
        bool isComputing{false};
        uint64_t idleSince{0}; //!< end of the last COMPUTE node [ps]
        uint32_t nodesLeft{0};
    };

    /// A node that can start, or is done.
    struct Change
    {
        uint32_t worker;
        uint32_t node;
        bool isDone;
    };

    static constexpr uint32_t NONE = ~uint32_t{0};
    static constexpr uint64_t UNKNOWN = CollectiveTimes::UNKNOWN;

    void Drain();
    void StartNode(uint32_t id, uint32_t node);
    void TryCompute(uint32_t id);
    void FinishNode(uint32_t id, uint32_t node);
    void FinishWorker(Worker& worker);
    void StartMessage(uint32_t id, uint32_t node);
    void PostMessage(uint32_t id, uint32_t node);
    void OnNodeDone(uint32_t id, uint32_t node);
    void OnComputed(uint32_t id, uint32_t node);
    void Expose(const Worker& worker, uint64_t from, uint64_t to, uint32_t last);
    static uint32_t LastDependency(const Worker& worker, uint32_t node);
    bool IsStuck() const;
    void CheckProgress();
    void OnProgressCheck();
    std::string Describe(const Worker& worker) const;
    uint64_t Now() const;

    NetworkApi& m_network;
    WorkloadListener& m_listener;
    ns3::Time m_injectionLatency;
    CollectiveEngine m_engine;
    std::vector<TracePlan> m_plans;
    std::vector<Worker> m_workers;
    std::vector<uint32_t> m_workerOf; //!< per rank
    TimingRecord m_timing;
    RingBuffer<Change> m_changes;
    bool m_draining{false};
    bool m_checking{false}; //!< OnProgressCheck is scheduled
    bool m_stopped{false};  //!< done, deadlocked or failed
    uint32_t m_workersLeft{0};
    uint64_t m_computing{0}; //!< ranks
    uint64_t m_traffic{0};   //!< messages of SEND and RECV nodes under way
    uint64_t m_messageBytes{0};
};

} // namespace cosim

#endif // COSIM_TRACE_EXECUTOR_H
