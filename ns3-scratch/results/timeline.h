/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_H
#define COSIM_TIMELINE_H

#include "network/network-api.h"
#include "network/run-observer.h"
#include "results/messages-in-flight.h"
#include "results/network-sampler.h"
#include "results/run-record.h"
#include "results/trace-text.h"
#include "stream/stream.h"
#include "support/flat-map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

/// What a timeline shows.
struct TimelineOptions
{
    std::vector<Rank> ranks;         //!< empty: all ranks
    uint64_t startPs{0};             //!< start of the window [ps]
    uint64_t endPs{UINT64_MAX};      //!< end of the window [ps]
    uint64_t limitBytes{UINT64_MAX}; //!< largest size of the file [bytes]
    uint64_t counterPs{0};           //!< time between samples of links and flows; 0: none [ps]
    uint32_t counterLinks{0};        //!< number of links that have counters
    uint32_t counterFlows{0};        //!< number of flows that have a counter
};

/**
 * The tracks of a timeline, and what is shown in them: events of some ranks in a window of time,
 * while the file has room. A rank has one track for its computation, and as many communication
 * streams as it needs at the same time.
 */
class TimelineTracks
{
  public:
    static constexpr uint32_t COMPUTE = 1; //!< track of the computation

    /// The process that shows the network as a whole: after all ranks.
    static constexpr uint32_t NETWORK = 1'000'000;

    /**
     * @param options what to show
     * @param ranks number of ranks
     * @param text receives the names of the tracks; must outlive this object
     */
    TimelineTracks(const TimelineOptions& options, uint32_t ranks, TraceText& text)
        : m_startPs(options.startPs),
          m_endPs(options.endPs),
          m_text(text),
          m_isShown(ranks, options.ranks.empty()),
          m_isNamed(ranks),
          m_taken(ranks)
    {
        for (const Rank rank : options.ranks)
        {
            m_isShown[rank] = true;
        }
        m_text.BeginMeta(NETWORK, 0, "process_name").Text("name", "network").End();
    }

    /// @return true if the timeline has tracks of an endpoint, which must be a rank
    bool Shows(Rank rank) const
    {
        return rank < m_isShown.size() && m_isShown[rank];
    }

    /// @return true if an event at this time is written; it counts as left out if there is no room
    bool Accepts(uint64_t timePs)
    {
        if (timePs < m_startPs || timePs > m_endPs)
        {
            return false;
        }
        m_leftOut += m_text.IsFull() ? 1 : 0;
        return !m_text.IsFull();
    }

    /// @return start of the window [ps]
    uint64_t GetStart() const
    {
        return m_startPs;
    }

    /// @return the number of events for which the file had no room
    uint64_t GetLeftOut() const
    {
        return m_leftOut;
    }

    /// @return the number of ranks with tracks
    uint64_t GetShown() const
    {
        return static_cast<uint64_t>(std::count(m_isShown.begin(), m_isShown.end(), true));
    }

    /**
     * Name the process of a rank and its compute track, at its first use.
     *
     * @param rank a rank
     */
    void Use(Rank rank)
    {
        if (m_isNamed[rank])
        {
            return;
        }
        m_isNamed[rank] = true;
        m_text.BeginMeta(rank, 0, "process_name")
            .Text("name", "rank " + std::to_string(rank))
            .End();
        m_text.BeginMeta(rank, 0, "process_sort_index").Uint("sort_index", rank).End();
        m_text.BeginMeta(rank, COMPUTE, "thread_name").Text("name", "compute").End();
        m_text.BeginMeta(rank, COMPUTE, "thread_sort_index").Uint("sort_index", COMPUTE).End();
    }

    /**
     * @param rank a rank
     * @return its first free communication stream, which is taken until Release
     */
    uint32_t Take(Rank rank)
    {
        std::vector<bool>& taken = m_taken[rank];
        uint32_t stream = 0;
        while (stream < taken.size() && taken[stream])
        {
            ++stream;
        }
        if (stream == taken.size())
        {
            taken.push_back(false);
            const uint32_t thread = FIRST_STREAM + stream;
            m_text.BeginMeta(rank, thread, "thread_name")
                .Text("name", "communication " + std::to_string(stream))
                .End();
            m_text.BeginMeta(rank, thread, "thread_sort_index").Uint("sort_index", thread).End();
        }
        taken[stream] = true;
        return FIRST_STREAM + stream;
    }

    /// @param thread a stream of a rank that is free again
    void Release(Rank rank, uint32_t thread)
    {
        m_taken[rank][thread - FIRST_STREAM] = false;
    }

  private:
    static constexpr uint32_t FIRST_STREAM = 10;

    uint64_t m_startPs;
    uint64_t m_endPs;
    TraceText& m_text;
    std::vector<bool> m_isShown;            //!< per rank
    std::vector<bool> m_isNamed;            //!< per rank
    std::vector<std::vector<bool>> m_taken; //!< per rank and stream
    uint64_t m_leftOut{0};
};

/**
 * The collectives in a timeline: in a collective its chunks, in a chunk its phases, and an arrow
 * for each message from the phase that sends it to the phase that receives it.
 */
class CollectiveTracks : public RunObserver
{
  public:
    /**
     * @param stream the workload; must outlive this object, except for the steps of its programs
     * @param tracks the tracks of the ranks; must outlive this object
     * @param text receives the events; must outlive this object
     */
    CollectiveTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text);

    uint32_t GetKinds() const override
    {
        return COLLECTIVES | CHUNKS | STEPS;
    }

    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;
    void OnChunkBegun(const ChunkEvent& event) override;
    void OnChunkEnded(const ChunkEvent& event) override;
    void OnStepSent(const StepMessageEvent& event) override;
    void OnStepReceived(const StepMessageEvent& event) override;

    /// @param timePs end of the run [ps]: what has not ended ends here
    void Finish(uint64_t timePs);

  private:
    /// A stream of a rank that shows a collective.
    struct Lane
    {
        uint32_t thread;
        bool isBusy; //!< true while a chunk is in it
    };

    /// A collective at a rank.
    struct Running
    {
        uint64_t beginPs{0};
        uint32_t lastPhase{0}; //!< of this rank in a chunk
        std::vector<Lane> lanes;
    };

    /// Time of a chunk whose phase has not ended.
    static constexpr uint64_t RUNNING = UINT64_MAX;

    /// A chunk at a rank.
    struct Chunk
    {
        uint32_t lane{0};   //!< index in Running::lanes
        uint32_t thread{0}; //!< of the lane
        uint64_t leftPs{0}; //!< end of its phase before, or the issue of the collective, or RUNNING
    };

    /// A collective at a rank.
    struct CollectiveAt
    {
        Rank rank{0};
        uint32_t collective{0};

        bool operator==(const CollectiveAt&) const = default;

        uint64_t Hash() const
        {
            return MixHash(rank, collective);
        }
    };

    /// A chunk of a collective at a rank.
    struct ChunkAt
    {
        CollectiveAt at;
        uint32_t chunk{0};

        bool operator==(const ChunkAt&) const = default;

        uint64_t Hash() const
        {
            return MixHash(static_cast<uint64_t>(at.rank) << 32 | chunk, at.collective);
        }
    };

    void WriteBegin(const CollectiveEvent& event, uint32_t thread);
    Chunk& BeginChunk(const ChunkEvent& event, Running& running);
    uint32_t GetGroupSize(const Collective& collective) const;
    uint32_t GetLastPhase(const Collective& collective, Rank rank) const;
    uint32_t GetThread(Rank rank, uint32_t collective, uint32_t chunk);

    const Stream& m_stream;
    TimelineTracks& m_tracks;
    TraceText& m_text;
    std::vector<std::vector<uint32_t>> m_lastPhase; //!< per program and member
    FlatMap<CollectiveAt, Running> m_collectives;
    FlatMap<ChunkAt, Chunk> m_chunks;
    MessagesInFlight<uint64_t> m_arrows; //!< the ids of the arrows of the messages
    uint64_t m_arrowCount{0};
};

/**
 * The counters in a timeline: bytes in flight, utilization and queue of links, and congestion
 * windows of flows.
 *
 * When SAMPLES samples were taken, the interval becomes four times as long, and again after as
 * many. So the number of samples grows with the logarithm of the length of a run.
 */
class CounterTracks : public RunObserver
{
  public:
    /// Number of samples after which the interval grows.
    static constexpr uint32_t SAMPLES = 1000;

    /**
     * @param topology links and paths; must outlive this object
     * @param options how many links and flows have counters
     * @param tracks the tracks of the ranks; must outlive this object
     * @param text receives the events; must outlive this object
     */
    CounterTracks(const Topology& topology,
                  const TimelineOptions& options,
                  TimelineTracks& tracks,
                  TraceText& text);

    /// @return true if links and flows are sampled
    bool IsSampled() const
    {
        return m_intervalPs != 0;
    }

    /// @return the observer that takes the samples of links and flows
    NetworkSampler& GetSampler()
    {
        return m_sampler;
    }

    uint32_t GetKinds() const override
    {
        return STEPS;
    }

    void OnStepSent(const StepMessageEvent& event) override;
    void OnStepReceived(const StepMessageEvent& event) override;

  private:
    /// A counter of a process, and its latest value in the file.
    struct Counter
    {
        uint32_t process;
        std::string name;
        bool isShare; //!< its values are percent instead of bytes
        uint64_t value{0};
    };

    uint64_t Write(const NetworkSample& sample);
    void WriteInFlight(uint64_t timePs);
    void Set(Counter& counter, uint64_t timePs, uint64_t value);

    TimelineTracks& m_tracks;
    TraceText& m_text;
    std::vector<Counter> m_utilizations; //!< per sampled link
    std::vector<Counter> m_queues;       //!< per sampled link
    std::vector<Counter> m_windows;      //!< per sampled flow
    Counter m_inFlight;
    uint64_t m_inFlightBytes{0};
    uint64_t m_inFlightWrittenPs{0};
    uint64_t m_intervalPs;
    uint32_t m_samples{0}; //!< with this interval
    NetworkSampler m_sampler;
};

/// The tracks of jobs in a timeline: one for each, with its iterations.
class JobTracks : public RunObserver
{
  public:
    /// The process that shows the jobs.
    static constexpr uint32_t PROCESS = TimelineTracks::NETWORK + 1;

    /**
     * @param stream the workload
     * @param tracks decides what is shown; must outlive this object
     * @param text receives the events; must outlive this object
     */
    JobTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text);

    /// End the iterations that are shown. @param timePs end of the run [ps]
    void Finish(uint64_t timePs);

    uint32_t GetKinds() const override
    {
        return m_record.GetKinds();
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;

  private:
    /// The iteration of a job that runs.
    struct Current
    {
        std::size_t iteration{0};
        uint64_t beginPs{UINT64_MAX}; //!< UINT64_MAX: the job has not started [ps]
        bool isTried{false};          //!< true if it was written, or the file had no room
        bool isOpen{false};           //!< true while the file shows it
    };

    void Show(std::size_t job, uint64_t timePs);

    TimelineTracks& m_tracks;
    TraceText& m_text;
    JobRecord m_record;
    std::vector<Current> m_current; //!< per job
};

/**
 * Writes the timeline of a run in the Chrome-trace format while it runs.
 *
 * Each rank is a process, with a thread for its computation and one for each communication stream.
 * A stream holds a collective; in it the chunks, one after another; in a chunk its phases. Chunks
 * of a collective that run at the same time have streams of their own. Arrows lead from the phase
 * that sends a message to the phase that receives it.
 */
class Timeline : public RunObserver
{
  public:
    /**
     * @param stream the workload; must outlive this object, except for the steps of its programs
     * @param options what to show
     * @param sink receives the text
     */
    Timeline(const Stream& stream, const TimelineOptions& options, TextSink sink);

    /// @return the observers that see the run for this timeline: this one, and those of its parts
    std::vector<RunObserver*> GetObservers();

    /// @param fabric the fabric of the run; must outlive the run
    void SetFabric(const Fabric* fabric)
    {
        m_counters.GetSampler().SetFabric(fabric);
    }

    /**
     * Complete the file.
     *
     * @param timePs end of the run [ps]: what has not ended ends here
     */
    void Finish(uint64_t timePs);

    uint32_t GetKinds() const override
    {
        return NODES | LOSSES | LINKS | PAUSES;
    }

    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;
    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override;
    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override;
    void OnPortPaused(const PortPauseEvent& event) override;
    void OnPortResumed(const PortPauseEvent& event) override;
    void OnLinkPauseBegun(const LinkChange& change) override;
    void OnLinksChanged(uint64_t timePs) override;

  private:
    void WriteWait(const NodeEvent& event, TraceEvent& line) const;
    void BeginCompute(const NodeEvent& event, uint64_t beginPs);
    bool ShowsMark(const FlowEvent& event);
    TraceEvent BeginMark(const char* name, const FlowEvent& event);

    TraceText m_text;
    TimelineTracks m_tracks;
    CollectiveTracks m_collectives;
    CounterTracks m_counters;
    JobTracks m_jobs;
    std::vector<std::vector<uint64_t>> m_nodeTimes; //!< per rank and node: its latest event [ps]
    std::vector<bool> m_isComputing; //!< per rank: true while the file shows a computation
    std::map<std::pair<Rank, uint32_t>, uint32_t> m_messageNodes; //!< streams of running messages
    const Topology& m_topology;
    std::map<uint32_t, bool> m_pauseThreads; //!< of ports: true while the file shows a pause
    bool m_isPaused{false};                  //!< true while the file shows a reconfiguration
};

} // namespace cosim

#endif // COSIM_TIMELINE_H
