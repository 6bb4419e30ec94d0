/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COLLECTIVE_TRACKS_H
#define COSIM_COLLECTIVE_TRACKS_H

#include "network/run-observer.h"
#include "results/messages-in-flight.h"
#include "results/timeline-tracks.h"
#include "results/trace-text.h"
#include "stream/stream.h"
#include "support/flat-map.h"

#include <cstdint>
#include <vector>

namespace cosim
{

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

} // namespace cosim

#endif // COSIM_COLLECTIVE_TRACKS_H
