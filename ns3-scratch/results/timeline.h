/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TIMELINE_H
#define COSIM_TIMELINE_H

#include "network/run-observer.h"
#include "results/timeline-tracks.h"
#include "results/trace-text.h"
#include "stream/stream.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
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

    /**
     * Complete the file.
     *
     * @param timePs end of the run [ps]: what has not ended ends here
     */
    void Finish(uint64_t timePs);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;
    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;
    void OnChunkBegun(const ChunkEvent& event) override;
    void OnChunkEnded(const ChunkEvent& event) override;
    void OnStepSent(const StepMessageEvent& event) override;
    void OnStepReceived(const StepMessageEvent& event) override;
    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override;
    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override;
    void OnLinkPauseBegun(const LinkChange& change) override;
    void OnLinksChanged(uint64_t timePs) override;

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
        uint64_t beginPs;
        uint32_t lastPhase; //!< of this rank in a chunk
        std::vector<Lane> lanes;
    };

    /// Time of a chunk whose phase has not ended.
    static constexpr uint64_t RUNNING = UINT64_MAX;

    /// A chunk at a rank.
    struct Chunk
    {
        std::size_t lane; //!< index in Running::lanes
        uint64_t leftPs;  //!< end of its phase before, or the issue of the collective, or RUNNING
    };

    using CollectiveAt = std::pair<Rank, uint32_t>; //!< a collective at a rank

    bool IsShown(Rank rank) const
    {
        return m_isShown[rank];
    }

    bool Accepts(uint64_t timePs);
    void WriteBegin(const CollectiveEvent& event, uint32_t thread);
    void WriteWait(const NodeEvent& event);
    void WriteInFlight(uint64_t timePs);
    bool BeginMark(const char* name, const FlowEvent& event);
    uint32_t GetGroupSize(const Collective& collective) const;
    uint32_t GetLastPhase(const Collective& collective, Rank rank) const;
    uint32_t GetThread(Rank rank, uint32_t collective, uint32_t chunk) const;

    const Stream& m_stream;
    TimelineOptions m_options;
    TraceText m_text;
    TimelineTracks m_tracks;
    std::vector<bool> m_isShown;                    //!< per rank
    std::vector<std::vector<uint32_t>> m_lastPhase; //!< per program and member
    std::vector<std::vector<uint64_t>> m_nodeTimes; //!< per rank and node: its latest event [ps]
    std::map<std::pair<Rank, uint32_t>, uint32_t> m_messageNodes; //!< streams of running messages
    std::map<CollectiveAt, Running> m_collectives;
    std::map<std::pair<CollectiveAt, uint32_t>, Chunk> m_chunks;
    /// messages on their way, by source, target and tag: the ids of their arrows
    std::map<std::tuple<Rank, Rank, uint64_t>, std::deque<uint64_t>> m_arrows;
    uint64_t m_arrowCount{0};
    uint64_t m_inFlightBytes{0};
    uint64_t m_inFlightWrittenPs{0};
    bool m_isPaused{false}; //!< true while the file shows a reconfiguration
    uint64_t m_leftOut{0};  //!< events for which the file had no room
};

} // namespace cosim

#endif // COSIM_TIMELINE_H
