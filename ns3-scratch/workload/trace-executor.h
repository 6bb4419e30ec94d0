/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_EXECUTOR_H
#define COSIM_TRACE_EXECUTOR_H

#include "clock/last-event.h"
#include "network/network-api.h"
#include "network/run-observers.h"
#include "stream/stream.h"
#include "support/ring-buffer.h"
#include "system/collective-engine.h"
#include "system/outbox.h"
#include "workload/compute-nodes.h"
#include "workload/message-nodes.h"
#include "workload/timer-nodes.h"
#include "workload/trace-workers.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cosim
{

/// Is notified of the progress of the workload.
class WorkloadListener
{
  public:
    virtual ~WorkloadListener() = default;

    /// Called when all nodes of all ranks are done.
    virtual void OnWorkloadDone() = 0;

    /**
     * @param report a sentence that describes a deadlock: nothing is in progress, but some ranks
     * wait
     */
    virtual void OnWorkloadDeadlock(const std::string& report) = 0;

    /// @param error a sentence that says why the run cannot continue
    virtual void OnWorkloadError(const std::string& error) = 0;
};

/**
 * Runs the traces of a stream.
 *
 * A trace is a graph of nodes with dependencies. Each rank runs the nodes of its trace as their
 * dependencies complete. A rank has one compute stream, which runs the COMPUTE nodes one at a time,
 * in the order of the trace. A node in a lane waits for a slot of the lane instead. A lane chooses
 * its next node when everything else of the picosecond has happened.
 */
class TraceExecutor : public CollectiveListener
{
  public:
    /**
     * @param stream the workload; its traces and collectives must outlive the executor
     * @param network carries the messages; must outlive the executor
     * @param observers receive the events of nodes, collectives and chunks
     * @param listener notified of the progress; not owned
     */
    TraceExecutor(const Stream& stream,
                  NetworkApi& network,
                  const RunObservers& observers,
                  WorkloadListener& listener);

    /// Start all nodes without dependencies. Call it inside a simulator event.
    void Start();

    /**
     * Let jobs fail: all of their nodes that are not done are done now, without doing anything.
     * Messages of their collectives must arrive by themselves (see Fabric::Abandon).
     *
     * @param jobs 1 + indices of the jobs, as in Trace::job
     */
    void Drop(std::span<const uint32_t> jobs);

    /// @return payload of all messages of the workload [bytes]
    uint64_t GetTotalBytes() const
    {
        return m_engine.GetTotalBytes() + m_workers.GetMessageBytes();
    }

    /// @return the scheduler of the collectives' chunks, for its statistics
    const Admission& GetAdmission() const
    {
        return m_engine.GetAdmission();
    }

    /// @return a sentence that names the waiting ranks and says what the first of them wait for
    std::string DescribeWaiting(uint32_t details = 4) const;

    void OnCollectiveDone(uint32_t collective, Rank rank) override;
    void OnEngineSettled() override;
    void OnEngineError(const std::string& error) override;

  private:
    /// What has happened to a node.
    enum class ChangeKind : uint8_t
    {
        READY, //!< all dependencies of the node are done
        DONE,  //!< the node has finished
    };

    /// A change that has not been handled yet.
    struct Change
    {
        uint32_t worker;
        uint32_t node;
        ChangeKind kind;
    };

    /// A node of a worker.
    struct NodeRef
    {
        uint32_t worker;
        uint32_t node;
    };

    /// A lane of a worker.
    struct LaneRef
    {
        uint32_t worker;
        uint32_t lane; //!< its index
    };

    void Drain();
    void StartNode(uint32_t id, uint32_t node);
    void RunNode(uint32_t id, uint32_t node);
    void TryCompute(uint32_t id);
    void LetChoose(uint32_t id, uint32_t lane);
    void FillLanes();
    void BeginNode(uint32_t id, uint32_t node);
    void Release(uint32_t id, const Dependents& waiting, uint32_t node);
    void FinishNode(uint32_t id, uint32_t node);
    std::vector<NodeRef> DropNodes(std::span<const uint32_t> jobs, bool areRunning);
    void DropNode(uint32_t id, uint32_t node, bool isRunning);
    void EndNode(uint32_t id, uint32_t node);
    void FinishWorker();
    void OnNodeDone(uint32_t id, uint32_t node);
    bool IsStuck() const;
    void CheckProgress();
    void OnProgressCheck();
    uint64_t Now() const;

    NetworkApi& m_network;
    RunObservers m_observers;
    WorkloadListener& m_listener;
    Outbox m_outbox;
    CollectiveEngine m_engine;
    TraceWorkers m_workers;
    TimerNodes m_timers;
    MessageNodes m_messages;
    ComputeNodes m_computes;
    RingBuffer<Change> m_changes;
    std::vector<LaneRef> m_choosing; //!< lanes whose next nodes are chosen in this picosecond
    LastEvent m_choose;
    bool m_draining{false};
    bool m_checking{false}; //!< true while OnProgressCheck is scheduled
    bool m_stopped{false};  //!< true after completion, deadlock or failure
    uint32_t m_workersLeft;
};

} // namespace cosim

#endif // COSIM_TRACE_EXECUTOR_H
