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
#include "system/chunk-scheduler.h"
#include "system/collective-plans.h"
#include "system/collective-progress.h"
#include "system/task-table.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/// Hears what the CollectiveEngine has done.
class CollectiveListener
{
  public:
    virtual ~CollectiveListener() = default;

    /**
     * A rank has done the last step of the last chunk of a collective.
     *
     * @param collective its id
     * @param rank the rank
     */
    virtual void OnCollectiveDone(uint32_t collective, Rank rank) = 0;

    /// All that could be done at this moment was done.
    virtual void OnEngineSettled() = 0;

    /// @param error a sentence: the run cannot go on
    virtual void OnEngineError(const std::string& error) = 0;
};

/**
 * Runs collectives: chunk by chunk as the ChunkScheduler admits them, step by step as their
 * programs say.
 *
 * A SEND whose dependencies are done waits for the injection latency and is handed to the network.
 * A RECV whose message has arrived and whose dependencies are done is complete after the injection
 * latency; a reduction then occupies the rank's reduction unit (one at a time, first come first
 * served) for bytes / reduction rate. Copies cost nothing.
 *
 * Over a BundleNetwork the same happens at the same times, but the network waits for all messages
 * that a step receives and for the injection latency, so that a message costs no event here.
 */
class CollectiveEngine : public ArrivalHandler, public BundleHandler, public ChunkStarter
{
  public:
    /**
     * @param stream programs and collectives; its collectives must outlive the engine, its
     * programs are not used afterwards
     * @param network carries the messages; its arrival handler becomes this engine
     * @param observers hear of collectives and chunks
     * @param listener goes on when something is done; not owned
     */
    CollectiveEngine(const Stream& stream,
                     NetworkApi& network,
                     const RunObservers& observers,
                     CollectiveListener& listener);
    ~CollectiveEngine() override;

    CollectiveEngine(const CollectiveEngine&) = delete;
    CollectiveEngine& operator=(const CollectiveEngine&) = delete;

    /**
     * A rank is ready for a collective, once for each of its ranks.
     *
     * @param collective its id
     * @param rank the rank
     */
    void Issue(uint32_t collective, Rank rank);

    /// @return messages, injections and reductions that are under way
    uint64_t GetActive() const;

    /// @return the payload of all messages of all collectives [bytes]
    uint64_t GetTotalBytes() const
    {
        return m_plans.GetTotalBytes();
    }

    /// @return the scheduler, for its statistics
    const ChunkScheduler& GetScheduler() const
    {
        return m_scheduler;
    }

    /**
     * Say why a rank still waits for a collective.
     *
     * @param collective its id
     * @param rank the rank
     * @return part of a sentence: who has not issued it, or its unfinished chunks and their steps
     */
    std::string Describe(uint32_t collective, Rank rank) const;

    void OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag) override;
    void OnBundle(uint64_t tag) override;
    void StartPart(const ChunkPart& part) override;

  private:
    using Task = TaskTable::Task;
    using Ready = TaskTable::StepRef; //!< a step whose turn has come

    void Drain();
    void Perform(const Ready& ready);
    void Inject(const Ready& ready);
    void OnInjected(const Ready& ready);
    void OpenBundle(uint32_t task, uint32_t step);
    void Send(const Ready& ready);
    void SendBundled(const Ready& ready);
    void Reduce(const Ready& ready);
    void OnReduced(uint32_t task, uint32_t step);
    void Complete(const Ready& ready);
    void LeavePlace(uint32_t taskId, uint32_t place, uint32_t steps);
    void FinishPlace(uint32_t taskId, uint32_t place);
    void FinishChunk(uint32_t collective, uint32_t member);
    ChunkEvent MakeEvent(const ChunkPart& what, Rank rank) const;

    NetworkApi& m_network;
    BundleNetwork* m_bundles; //!< the network's, or null; not owned
    RunObservers m_observers;
    CollectiveListener& m_listener;
    ChunkScheduler m_scheduler;
    CollectivePlans m_plans;
    CollectiveProgress m_progress;
    TaskTable m_tasks;
    uint64_t m_reductionBytesPerS;
    ns3::Time m_injectionLatency;
    DelayLine<Ready, CollectiveEngine> m_injection;

    std::vector<BundledMessage> m_burst; //!< of SendBundled, to use its memory again

    RingBuffer<Ready> m_work; //!< steps whose turn has come
    bool m_draining{false};

    std::vector<uint64_t> m_reductionFree; //!< per rank: when its reduction unit is free [ps]
    uint64_t m_inFlight{0};                //!< messages
    uint64_t m_reducing{0};
    uint64_t m_leaving{0}; //!< members whose last SEND is not done
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_ENGINE_H
