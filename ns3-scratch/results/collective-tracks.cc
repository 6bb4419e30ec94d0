/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/collective-tracks.h"

#include "results/bus-bandwidth.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cosim
{

CollectiveTracks::CollectiveTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text)
    : m_stream(stream),
      m_tracks(tracks),
      m_text(text)
{
    for (const Program& program : stream.programs)
    {
        std::vector<uint32_t>& last = m_lastPhase.emplace_back(program.groupSize);
        for (uint32_t member = 0; member + 1 < program.stepBegin.size(); ++member)
        {
            for (uint32_t i = program.stepBegin[member]; i < program.stepBegin[member + 1]; ++i)
            {
                last[member] = std::max(last[member], program.phase[i]);
            }
        }
        for (const Piece& piece : program.pieces)
        {
            for (uint32_t group = 0; group < piece.groups; ++group)
            {
                for (uint32_t m = 0; m < stream.programs[piece.program].groupSize; ++m)
                {
                    const uint32_t phase = piece.phase + m_lastPhase[piece.program][m];
                    uint32_t& known = m_lastPhase.back()[piece.GetMember(group, m)];
                    known = std::max(known, phase);
                }
            }
        }
    }
}

uint32_t
CollectiveTracks::GetLastPhase(const Collective& collective, Rank rank) const
{
    const auto member = std::find(collective.ranks.begin(), collective.ranks.end(), rank);
    return m_lastPhase[collective.program]
                      [static_cast<std::size_t>(member - collective.ranks.begin())];
}

/// @return the number of ranks that exchange data with each other in a collective
uint32_t
CollectiveTracks::GetGroupSize(const Collective& collective) const
{
    return m_stream.CountRanks(collective) / std::max(1U, collective.groups);
}

void
CollectiveTracks::OnCollectiveBegun(const CollectiveEvent& event)
{
    if (m_tracks.Shows(event.rank) && m_tracks.Accepts(event.timePs))
    {
        m_tracks.Use(event.rank);
        const uint32_t thread = m_tracks.Take(event.rank);
        m_collectives[{event.rank, event.collective->id}] = {
            event.timePs,
            GetLastPhase(*event.collective, event.rank),
            {{thread, false}}};
        WriteBegin(event, thread);
    }
}

/// Write the beginning of a collective in one of its streams.
void
CollectiveTracks::WriteBegin(const CollectiveEvent& event, uint32_t thread)
{
    const Collective& collective = *event.collective;
    const Program& program = m_stream.programs[collective.program];
    m_text.Begin('B', event.rank, thread, event.timePs)
        .Text("name", collective.name)
        .Arguments()
        .Text("operation", program.operation)
        .Text("algorithm", program.name)
        .Uint("bytes", collective.bytes)
        .Uint("chunks", collective.chunks)
        .Uint("group_size", GetGroupSize(collective))
        .Uint("iteration", collective.iteration)
        .End();
}

void
CollectiveTracks::OnCollectiveEnded(const CollectiveEvent& event)
{
    const auto running = m_collectives.Extract({event.rank, event.collective->id});
    if (!running)
    {
        return;
    }
    const uint64_t duration = event.timePs - running->beginPs;
    const Program& program = m_stream.programs[event.collective->program];
    const double bandwidth = GetAlgorithmBandwidth(event.collective->bytes, duration);
    const double factor = GetBusFactor(program.operation, GetGroupSize(*event.collective));
    for (const Lane& lane : running->lanes)
    {
        m_text.Begin('E', event.rank, lane.thread, event.timePs)
            .Arguments()
            .Uint("algbw_bps", static_cast<uint64_t>(bandwidth))
            .Uint("busbw_bps", static_cast<uint64_t>(bandwidth * factor))
            .End();
        m_tracks.Release(event.rank, lane.thread);
    }
}

void
CollectiveTracks::OnChunkBegun(const ChunkEvent& event)
{
    const CollectiveAt at{event.rank, event.collective->id};
    Running* running = m_collectives.Find(at);
    if (running == nullptr)
    {
        return;
    }
    if (!m_tracks.Accepts(event.timePs))
    {
        return;
    }
    Chunk* chunk = m_chunks.Find({at, event.chunk});
    if (chunk == nullptr)
    {
        chunk = &BeginChunk(event, *running);
    }
    m_text.Begin('B', event.rank, chunk->thread, event.timePs)
        .Text("name", "phase " + std::to_string(event.phase))
        .Arguments()
        .Text("dimension", m_stream.topology.dimensions[event.dimension])
        .Microseconds("waited_for_slot_us", event.timePs - std::exchange(chunk->leftPs, RUNNING))
        .End();
}

/// Begin a chunk in a free stream of its collective.
CollectiveTracks::Chunk&
CollectiveTracks::BeginChunk(const ChunkEvent& event, Running& running)
{
    auto& lanes = running.lanes;
    auto lane =
        std::find_if(lanes.begin(), lanes.end(), [](const Lane& one) { return !one.isBusy; });
    if (lane == lanes.end())
    {
        lane = lanes.insert(lanes.end(), {m_tracks.Take(event.rank), false});
        WriteBegin({event.timePs, event.rank, event.collective}, lane->thread);
    }
    lane->isBusy = true;
    m_text.Begin('B', event.rank, lane->thread, event.timePs)
        .Text("name", "chunk " + std::to_string(event.chunk))
        .End();
    Chunk& chunk = m_chunks[{{event.rank, event.collective->id}, event.chunk}];
    chunk = {static_cast<uint32_t>(lane - lanes.begin()), lane->thread, running.beginPs};
    return chunk;
}

void
CollectiveTracks::OnChunkEnded(const ChunkEvent& event)
{
    const ChunkAt key{{event.rank, event.collective->id}, event.chunk};
    Chunk* chunk = m_chunks.Find(key);
    if (chunk == nullptr)
    {
        return;
    }
    if (std::exchange(chunk->leftPs, event.timePs) == RUNNING)
    {
        m_text.Begin('E', event.rank, chunk->thread, event.timePs).End();
    }
    Running& running = m_collectives[key.at];
    if (event.phase == running.lastPhase)
    {
        m_text.Begin('E', event.rank, chunk->thread, event.timePs).End();
        running.lanes[chunk->lane].isBusy = false;
        m_chunks.Extract(key);
    }
}

/// @return the stream of a chunk at a rank; 0 if it has none
uint32_t
CollectiveTracks::GetThread(Rank rank, uint32_t collective, uint32_t chunk)
{
    const CollectiveAt at{rank, collective};
    if (const Chunk* found = m_chunks.Find({at, chunk}))
    {
        return found->thread;
    }
    // A message can arrive before its chunk begins.
    const Running* running = m_collectives.Find(at);
    return running == nullptr ? 0 : running->lanes.front().thread;
}

void
CollectiveTracks::OnStepSent(const StepMessageEvent& event)
{
    if (!m_tracks.Shows(event.src) || !m_tracks.Shows(event.dst) || !m_tracks.Accepts(event.timePs))
    {
        return;
    }
    const uint32_t thread = GetThread(event.src, event.collective->id, event.chunk);
    if (thread == 0)
    {
        return;
    }
    m_arrows.Push({event.src, event.dst, event.tag}, ++m_arrowCount);
    m_text.Begin('s', event.src, thread, event.timePs)
        .Message(m_arrowCount)
        .Arguments()
        .Uint("bytes", event.bytes)
        .End();
}

void
CollectiveTracks::OnStepReceived(const StepMessageEvent& event)
{
    if (!m_tracks.Shows(event.src) || !m_tracks.Shows(event.dst) || !m_tracks.Accepts(event.timePs))
    {
        return;
    }
    const auto arrow = m_arrows.Pop({event.src, event.dst, event.tag});
    const uint32_t thread =
        arrow ? GetThread(event.dst, event.collective->id, event.chunk) : uint32_t{0};
    if (thread != 0)
    {
        m_text.Begin('f', event.dst, thread, event.timePs).Text("bp", "e").Message(*arrow).End();
    }
}

void
CollectiveTracks::Finish(uint64_t timePs)
{
    m_chunks.ForEach([this, timePs](const ChunkAt& key, const Chunk& chunk) {
        const uint32_t open = chunk.leftPs == RUNNING ? 2 : 1; // the phase and the chunk
        for (uint32_t i = 0; i < open; ++i)
        {
            m_text.Begin('E', key.at.rank, chunk.thread, timePs).End();
        }
    });
    m_collectives.ForEach([this, timePs](const CollectiveAt& at, const Running& running) {
        for (const Lane& lane : running.lanes)
        {
            m_text.Begin('E', at.rank, lane.thread, timePs).End();
        }
    });
}

} // namespace cosim
