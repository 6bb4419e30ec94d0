/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_ENGINE_H
#define COSIM_COLLECTIVE_ENGINE_H

#include "chunk-scheduler.h"
#include "collective-plans.h"
#include "delay-line.h"
#include "network-api.h"
#include "program-template.h"
#include "ring-buffer.h"
#include "stream.h"

#include <cstdint>
#include <deque>
#include <memory>
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

/// When a collective ran, in simulated time [ps].
struct CollectiveTimes
{
    static constexpr uint64_t UNKNOWN = ~uint64_t{0};

    uint64_t start{UNKNOWN}; //!< issued by the first rank
    uint64_t end{UNKNOWN};   //!< done at the last rank
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
 * The tag of a message says which step of which running part receives it, so an arrival is looked
 * up by index. All the state of a running part is two flat arrays from a pool.
 */
class CollectiveEngine : public ArrivalHandler, public ChunkStarter
{
  public:
    /**
     * @param stream programs and collectives; its collectives must outlive the engine, its
     * programs are not used afterwards
     * @param network carries the messages; its arrival handler becomes this engine
     * @param listener hears what is done; not owned
     */
    CollectiveEngine(const Stream& stream, NetworkApi& network, CollectiveListener& listener);
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
    uint64_t GetTotalBytes() const;

    /// @return messages handed to the network so far
    uint64_t GetMessages() const;

    /**
     * @param collective its id
     * @return when it ran
     */
    const CollectiveTimes& GetTimes(uint32_t collective) const;

    /// @return the scheduler, for its statistics
    const ChunkScheduler& GetScheduler() const;

    /**
     * Say why a rank still waits for a collective.
     *
     * @param collective its id
     * @param rank the rank
     * @return part of a sentence: who has not issued it, or its unfinished chunks and their steps
     */
    std::string Describe(uint32_t collective, Rank rank) const;

    void OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag) override;
    void StartPart(const ChunkPart& part) override;

  private:
    /// A started part of a chunk. Slots of this kind are used again.
    struct Task
    {
        ChunkPart what;
        uint32_t generation{0}; //!< how many parts used the slot before
        uint32_t membersLeft{0};
        uint64_t chunkBytes{0};
        const ProgramTemplate* program{nullptr};
        const ProgramTemplate::Step* steps{nullptr}; //!< of the part
        const ProgramTemplate::Place* places{nullptr};
        const Rank* ranks{nullptr};      //!< of the group
        std::vector<uint32_t> pending;   //!< per step, see ProgramTemplate::GetPending
        std::vector<uint32_t> stepsLeft; //!< per place
    };

    /// Which members have reached the parts of a chunk whose programs have several phases.
    struct Progress
    {
        std::vector<uint32_t> reached; //!< per part, by members that left another part
        uint32_t partsLeft{0};         //!< parts that are not the first of all their members
    };

    /// A collective that was issued by some rank and is not done at every one.
    struct Running
    {
        uint32_t issue{0}; //!< rises with every collective issued
        uint32_t membersDone{0};
        std::vector<bool> issued;         //!< per member
        std::vector<uint32_t> chunksLeft; //!< per member
        std::vector<uint32_t> reached;    //!< per part, by members that have issued
        std::vector<uint32_t> progress;   //!< per chunk, into m_progress, or NONE; may be empty
    };

    /// A step whose turn has come.
    struct Ready
    {
        uint32_t task;
        uint32_t step;
    };

    static constexpr uint32_t NONE = ProgramTemplate::NONE;

    void EnqueuePart(uint32_t collective, uint32_t part, uint32_t chunk, uint32_t count);
    Progress& GetProgress(uint32_t collective, uint32_t chunk);
    void CountReached(uint32_t collective, uint32_t chunk, uint32_t part);

    void Drain();
    void Perform(const Ready& ready);
    void OnInjected(const Ready& ready);
    void Send(const Ready& ready);
    void Reduce(const Ready& ready);
    void OnReduced(uint32_t task, uint32_t step);
    void Complete(const Ready& ready);
    void FinishPlace(Task& task, uint32_t taskId, uint32_t place);
    void FinishChunk(uint32_t collective, uint32_t member);

    NetworkApi& m_network;
    CollectiveListener& m_listener;
    ChunkScheduler m_scheduler;
    CollectivePlans m_plans;
    uint64_t m_reductionBytesPerS;
    bool m_hasInjection;
    DelayLine<Ready, CollectiveEngine> m_injection;

    std::vector<CollectiveTimes> m_times;
    std::vector<std::unique_ptr<Running>> m_running; //!< per collective
    uint32_t m_issues{0};

    std::deque<Task> m_tasks;
    std::vector<uint32_t> m_freeTasks;
    std::deque<Progress> m_progress;
    std::vector<uint32_t> m_freeProgress;
    RingBuffer<Ready> m_work; //!< steps whose turn has come
    bool m_draining{false};

    std::vector<uint64_t> m_reductionFree; //!< per rank: when its reduction unit is free [ps]
    uint64_t m_inFlight{0};                //!< messages
    uint64_t m_reducing{0};
    uint64_t m_messages{0};
};

} // namespace cosim

#endif // COSIM_COLLECTIVE_ENGINE_H
