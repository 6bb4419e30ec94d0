/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_ENGINE_H
#define COSIM_COLLECTIVE_ENGINE_H

#include "clock/delay-line.h"
#include "network/network-api.h"
#include "network/run-observers.h"
#include "stream/stream.h"
#include "support/ring-buffer.h"
#include "system/admission.h"
#include "system/collective-plans.h"
#include "system/collective-progress.h"
#include "system/outbox.h"
#include "system/reduction-units.h"
#include "system/task-table.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/// Is notified of what the CollectiveEngine completes.
class CollectiveListener
{
  public:
    virtual ~CollectiveListener() = default;

    /**
     * Called when a rank has finished the last step of the last chunk of a collective.
     *
     * @param collective id of the collective
     * @param rank the rank
     */
    virtual void OnCollectiveDone(uint32_t collective, Rank rank) = 0;

    /// Called when the engine has done everything that can be done at the current time.
    virtual void OnEngineSettled() = 0;

    /// @param error a sentence that says why the run cannot continue
    virtual void OnEngineError(const std::string& error) = 0;
};

/**
 * Runs collectives. An Admission decides when a member starts its part of a chunk; the program of
 * the collective says which steps the member then takes. Messages may arrive before.
 *
 * A SEND step whose dependencies are done waits for the injection latency; then its message is
 * handed to the network. A RECV step is complete one injection latency after its message has
 * arrived and its dependencies are done. A reduction then occupies the reduction unit of the rank
 * for bytes / reduction rate. Copies take no time.
 *
 * A switch that reduces is a member that issues nothing: it begins with the first rank. Its steps
 * have no injection latency, its reductions take no time, and it needs no slots.
 *
 * Over a BundleNetwork, the same steps happen at the same times, but with fewer events: the network
 * waits for all messages that a step receives, and for the injection latency.
 *
 * A program may have a protocol (ProgramProtocol): a collective then begins some time after its
 * issue, and messages wait longer before they are sent and have more bytes.
 */
class CollectiveEngine : public ArrivalHandler, public BundleHandler, public AdmissionHandler
{
  public:
    /**
     * @param stream programs and collectives; its collectives must outlive the engine, its programs
     * need not
     * @param network carries the messages; the engine becomes its arrival handler
     * @param outbox hands the messages to the network; must outlive the engine
     * @param observers receive the events of collectives and chunks
     * @param listener notified of completions; not owned
     */
    CollectiveEngine(const Stream& stream,
                     NetworkApi& network,
                     Outbox& outbox,
                     const RunObservers& observers,
                     CollectiveListener& listener);
    ~CollectiveEngine() override;

    CollectiveEngine(const CollectiveEngine&) = delete;
    CollectiveEngine& operator=(const CollectiveEngine&) = delete;

    /**
     * Issue a collective at one rank. Call it once for each rank of the collective.
     *
     * @param collective id of the collective
     * @param rank the rank
     * @param node the node of the rank's trace that issues it
     */
    void Issue(uint32_t collective, Rank rank, uint32_t node);

    /// @return whether some members have issued a collective, and some have not finished it
    bool IsRunning(uint32_t collective) const
    {
        return m_progress.IsRunning(collective);
    }

    /// @return the number of messages, injections and reductions in progress
    uint64_t GetActive() const;

    /// @return payload of all messages of all collectives [bytes]
    uint64_t GetTotalBytes() const
    {
        return m_plans.GetTotalBytes();
    }

    /// @return what decides when a chunk starts, for its statistics
    const Admission& GetAdmission() const
    {
        return *m_admission;
    }

    /**
     * Describe why a rank still waits for a collective.
     *
     * @param collective id of the collective
     * @param rank the rank
     * @return part of a sentence: the ranks that have not issued the collective, or its unfinished
     * chunks and their steps
     */
    std::string Describe(uint32_t collective, Rank rank) const;

    void OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag) override;
    void OnBundle(uint64_t tag) override;
    void OnAdmitted(const ChunkPart& part, uint32_t placeBegin, uint32_t placeEnd) override;

  private:
    using Task = TaskTable::Task;
    using Ready = TaskTable::StepRef; //!< a step that can be performed now

    void Begin(uint32_t collective, uint32_t member, uint32_t node);
    void PushIfReady(const Ready& ready);
    void Drain();
    void Perform(const Ready& ready);
    bool IsAtSwitch(const Ready& ready);
    void Launch(uint32_t collective, uint32_t member, uint32_t node);
    void Inject(const Ready& ready);
    uint64_t GetSendDelayPs(const Ready& ready);
    void OnInjected(const Ready& ready);
    uint32_t GetBundle(const Ready& receiver);
    uint32_t OpenBundle(const Ready& receiver);
    void Send(const Ready& ready);
    void SendBundled(const Ready& ready);
    void Reduce(const Ready& ready);
    TracePlace GetTracePlace(const Task& task, uint32_t member, uint32_t step) const;
    void Complete(const Ready& ready);
    void LeavePlace(uint32_t taskId, uint32_t place, uint32_t steps);
    void FinishPlace(uint32_t taskId, uint32_t place);
    void FinishChunk(uint32_t collective, uint32_t member);
    ChunkEvent MakeEvent(const ChunkPart& what, Rank rank) const;
    StepEvent MakeStepEvent(const Ready& ready);
    void ReportAdmission(const ChunkPart& what, uint32_t placeBegin, uint32_t placeEnd) const;
    void ReportMessage(void (RunObserver::*method)(const StepMessageEvent&),
                       const Ready& step,
                       Rank src,
                       Rank dst,
                       uint64_t bytes,
                       uint64_t tag,
                       uint32_t route);

    NetworkApi& m_network;
    Outbox& m_outbox;
    BundleNetwork* m_bundles; //!< bundle interface of the network, or null; not owned
    RunObservers m_observers;
    CollectiveListener& m_listener;
    const Topology& m_topology;
    CollectivePlans m_plans;
    CollectiveProgress m_progress;
    std::unique_ptr<Admission> m_admission;
    TaskTable m_tasks;
    ReductionUnits m_reductions;
    ns3::Time m_injectionLatency;
    DelayLine<Ready, CollectiveEngine> m_injection;

    /// buffer of SendBundled; a member so that its memory is reused
    std::vector<BundledMessage> m_burst;

    RingBuffer<Ready> m_work; //!< steps that can be performed now
    bool m_draining{false};

    uint64_t m_inFlight{0}; //!< messages in flight
    /// members whose last SEND step is not done, launches, and injections with a protocol's delay
    uint64_t m_leaving{0};
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_ENGINE_H
