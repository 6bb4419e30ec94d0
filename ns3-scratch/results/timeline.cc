/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timeline.h"

#include "results/bus-bandwidth.h"
#include "support/json-writer.h"

#include <algorithm>
#include <utility>

namespace cosim
{

namespace
{

/// The process that shows the network as a whole: after all ranks.
constexpr uint32_t NETWORK = 1'000'000;

/// Shortest time between two points of the counter of bytes in flight [ps].
constexpr uint64_t COUNTER_INTERVAL_PS = 100'000;

} // namespace

Timeline::Timeline(const Stream& stream, const TimelineOptions& options, TextSink sink)
    : m_stream(stream),
      m_options(options),
      m_text(std::move(sink), options.limitBytes),
      m_tracks(stream.topology.ranks, m_text),
      m_isShown(stream.topology.ranks, options.ranks.empty()),
      m_nodeTimes(stream.topology.ranks)
{
    for (const Rank rank : options.ranks)
    {
        m_isShown[rank] = true;
    }
    for (const Program& program : stream.programs)
    {
        std::vector<uint32_t>& last = m_lastPhase.emplace_back(program.groupSize);
        for (uint32_t member = 0; member < program.groupSize; ++member)
        {
            for (uint32_t i = program.stepBegin[member]; i < program.stepBegin[member + 1]; ++i)
            {
                last[member] = std::max(last[member], program.phase[i]);
            }
        }
    }
    m_text.BeginMeta(NETWORK, 0, "process_name").Text("name", "network");
    m_text.End();
}

uint32_t
Timeline::GetKinds() const
{
    return NODES | COLLECTIVES | CHUNKS | STEPS | LOSSES | LINKS;
}

/// @return true if an event at this time is written; it counts as left out if there is no room
bool
Timeline::Accepts(uint64_t timePs)
{
    if (timePs < m_options.startPs || timePs > m_options.endPs)
    {
        return false;
    }
    m_leftOut += m_text.IsFull() ? 1 : 0;
    return !m_text.IsFull();
}

void
Timeline::OnNodeBegun(const NodeEvent& event)
{
    if (!IsShown(event.rank))
    {
        return;
    }
    const Trace& trace = *event.trace;
    std::vector<uint64_t>& times = m_nodeTimes[event.rank];
    times.resize(trace.type.size());
    times[event.node] = event.timePs;
    const NodeType type = trace.type[event.node];
    if ((type == NodeType::SEND || type == NodeType::RECV || type == NodeType::TIMER) &&
        Accepts(event.timePs))
    {
        m_tracks.Use(event.rank);
        const uint32_t thread = m_tracks.Take(event.rank);
        m_messageNodes[{event.rank, event.node}] = thread;
        m_text.Begin('B', event.rank, thread, event.timePs).Text("name", trace.names[event.node]);
        m_text.Arguments();
        if (type != NodeType::TIMER)
        {
            m_text.Uint("bytes", trace.bytes[event.node]).Uint("peer", trace.peer[event.node]);
        }
        WriteWait(event);
        m_text.End();
    }
}

/// Write what a node waited for: the dependency that ended last.
void
Timeline::WriteWait(const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    const std::vector<uint64_t>& times = m_nodeTimes[event.rank];
    uint32_t last = trace.depBegin[event.node];
    for (uint32_t i = last; i < trace.depBegin[event.node + 1]; ++i)
    {
        last = times[trace.dep[i]] > times[trace.dep[last]] ? i : last;
    }
    if (last < trace.depBegin[event.node + 1])
    {
        m_text.Text("waited_for", trace.names[trace.dep[last]]);
    }
}

void
Timeline::OnNodeEnded(const NodeEvent& event)
{
    if (!IsShown(event.rank))
    {
        return;
    }
    const Trace& trace = *event.trace;
    std::vector<uint64_t>& times = m_nodeTimes[event.rank];
    const uint64_t begin = std::exchange(times[event.node], event.timePs);
    const NodeType type = trace.type[event.node];
    const auto message = m_messageNodes.find({event.rank, event.node});
    if (message != m_messageNodes.end())
    {
        const uint32_t thread = message->second;
        m_text.Begin('E', event.rank, thread, event.timePs).End();
        m_tracks.Release(event.rank, thread);
        m_messageNodes.erase(message);
    }
    if (type != NodeType::COMPUTE || event.timePs < m_options.startPs ||
        !Accepts(std::max(begin, m_options.startPs)))
    {
        return;
    }
    m_tracks.Use(event.rank);
    m_text.Begin('X', event.rank, TimelineTracks::COMPUTE, begin)
        .Microseconds("dur", event.timePs - begin)
        .Text("name", trace.names[event.node])
        .Arguments()
        .Text("layer", trace.layers[trace.layer[event.node]])
        .Uint("iteration", trace.iteration[event.node]);
    WriteWait(event);
    m_text.End();
}

uint32_t
Timeline::GetLastPhase(const Collective& collective, Rank rank) const
{
    const auto member = std::find(collective.ranks.begin(), collective.ranks.end(), rank);
    return m_lastPhase[collective.program]
                      [static_cast<std::size_t>(member - collective.ranks.begin())];
}

void
Timeline::OnCollectiveBegun(const CollectiveEvent& event)
{
    if (IsShown(event.rank) && Accepts(event.timePs))
    {
        m_tracks.Use(event.rank);
        const CollectiveAt at{event.rank, event.collective->id};
        Running& running = m_collectives[at];
        running = {event.timePs, GetLastPhase(*event.collective, event.rank), {}};
        running.lanes.push_back({m_tracks.Take(event.rank), false});
        WriteBegin(event, running.lanes.front().thread);
    }
}

/// @return the number of ranks that exchange data with each other in a collective
uint32_t
Timeline::GetGroupSize(const Collective& collective) const
{
    return m_stream.programs[collective.program].groupSize / std::max(1U, collective.groups);
}

/// Write the beginning of a collective in one of its streams.
void
Timeline::WriteBegin(const CollectiveEvent& event, uint32_t thread)
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
        .Uint("iteration", collective.iteration);
    m_text.End();
}

void
Timeline::OnCollectiveEnded(const CollectiveEvent& event)
{
    auto found = m_collectives.extract({event.rank, event.collective->id});
    if (found.empty())
    {
        return;
    }
    const Running& running = found.mapped();
    const uint64_t duration = event.timePs - running.beginPs;
    const Program& program = m_stream.programs[event.collective->program];
    for (const Lane& lane : running.lanes)
    {
        m_text.Begin('E', event.rank, lane.thread, event.timePs).Arguments();
        const double bandwidth = GetAlgorithmBandwidth(event.collective->bytes, duration);
        m_text.Uint("algbw_bps", static_cast<uint64_t>(bandwidth))
            .Uint("busbw_bps",
                  static_cast<uint64_t>(bandwidth * GetBusFactor(program.operation,
                                                                 GetGroupSize(*event.collective))));
        m_text.End();
        m_tracks.Release(event.rank, lane.thread);
    }
}

void
Timeline::OnChunkBegun(const ChunkEvent& event)
{
    const CollectiveAt at{event.rank, event.collective->id};
    const auto found = m_collectives.find(at);
    if (found == m_collectives.end())
    {
        return;
    }
    Running& running = found->second;
    auto chunk = m_chunks.find({at, event.chunk});
    if (chunk == m_chunks.end())
    {
        if (!Accepts(event.timePs))
        {
            return;
        }
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
            .Text("name", "chunk " + std::to_string(event.chunk));
        m_text.End();
        const Chunk begun{static_cast<std::size_t>(lane - lanes.begin()), running.beginPs};
        chunk = m_chunks.emplace(std::pair(at, event.chunk), begun).first;
    }
    m_text.Begin('B', event.rank, running.lanes[chunk->second.lane].thread, event.timePs)
        .Text("name", "phase " + std::to_string(event.phase))
        .Arguments()
        .Text("dimension", m_stream.topology.dimensions[event.dimension])
        .Microseconds("waited_for_slot_us",
                      event.timePs - std::exchange(chunk->second.leftPs, RUNNING));
    m_text.End();
}

void
Timeline::OnChunkEnded(const ChunkEvent& event)
{
    const CollectiveAt at{event.rank, event.collective->id};
    const auto chunk = m_chunks.find({at, event.chunk});
    if (chunk == m_chunks.end())
    {
        return;
    }
    Running& running = m_collectives[at];
    Lane& lane = running.lanes[chunk->second.lane];
    m_text.Begin('E', event.rank, lane.thread, event.timePs).End();
    chunk->second.leftPs = event.timePs;
    if (event.phase == running.lastPhase)
    {
        m_text.Begin('E', event.rank, lane.thread, event.timePs).End();
        lane.isBusy = false;
        m_chunks.erase(chunk);
    }
}

/// @return the stream of a chunk at a rank; 0 if it has none
uint32_t
Timeline::GetThread(Rank rank, uint32_t collective, uint32_t chunk) const
{
    const CollectiveAt at{rank, collective};
    const auto running = m_collectives.find(at);
    if (running == m_collectives.end())
    {
        return 0;
    }
    const auto found = m_chunks.find({at, chunk});
    // A message can arrive before its chunk begins.
    return running->second.lanes[found == m_chunks.end() ? 0 : found->second.lane].thread;
}

void
Timeline::OnStepSent(const StepMessageEvent& event)
{
    m_inFlightBytes += event.bytes;
    WriteInFlight(event.timePs);
    if (!IsShown(event.src) || !IsShown(event.dst))
    {
        return;
    }
    const uint32_t thread = GetThread(event.src, event.collective->id, event.chunk);
    if (thread == 0 || !Accepts(event.timePs))
    {
        return;
    }
    m_arrows[{event.src, event.dst, event.tag}].push_back(++m_arrowCount);
    m_text.Begin('s', event.src, thread, event.timePs)
        .Text("name", "message")
        .Text("cat", "m")
        .Uint("id", m_arrowCount)
        .Arguments()
        .Uint("bytes", event.bytes);
    m_text.End();
}

void
Timeline::OnStepReceived(const StepMessageEvent& event)
{
    m_inFlightBytes -= event.bytes;
    WriteInFlight(event.timePs);
    const auto arrows = m_arrows.find({event.src, event.dst, event.tag});
    if (arrows == m_arrows.end())
    {
        return;
    }
    const uint64_t arrow = arrows->second.front();
    arrows->second.pop_front();
    if (arrows->second.empty())
    {
        m_arrows.erase(arrows);
    }
    const uint32_t thread = GetThread(event.dst, event.collective->id, event.chunk);
    if (thread != 0 && Accepts(event.timePs))
    {
        m_text.Begin('f', event.dst, thread, event.timePs)
            .Text("bp", "e")
            .Text("name", "message")
            .Text("cat", "m")
            .Uint("id", arrow);
        m_text.End();
    }
}

void
Timeline::WriteInFlight(uint64_t timePs)
{
    const bool isDue = m_inFlightBytes == 0 || m_inFlightWrittenPs == 0 ||
                       timePs >= m_inFlightWrittenPs + COUNTER_INTERVAL_PS;
    if (isDue && Accepts(timePs))
    {
        m_inFlightWrittenPs = timePs;
        m_text.Begin('C', NETWORK, 0, timePs)
            .Text("name", "bytes in flight")
            .Arguments()
            .Uint("bytes", m_inFlightBytes);
        m_text.End();
    }
}

/// @return true if the retransmission or timeout of a flow is shown; then its mark has begun
bool
Timeline::BeginMark(const char* name, const FlowEvent& event)
{
    if (!IsShown(event.src) || !Accepts(event.timePs))
    {
        return false;
    }
    m_tracks.Use(event.src);
    m_text.Begin('i', event.src, 0, event.timePs)
        .Text("s", "p")
        .Text("name", name + std::to_string(event.dst))
        .Arguments();
    return true;
}

void
Timeline::OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes)
{
    if (BeginMark("retransmission to rank ", event))
    {
        m_text.Uint("bytes", payloadBytes);
        m_text.End();
    }
}

void
Timeline::OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs)
{
    if (BeginMark("timeout to rank ", event))
    {
        m_text.Microseconds("waited_us", waitedPs);
        m_text.End();
    }
}

void
Timeline::OnLinkPauseBegun(const LinkChange& change)
{
    if (Accepts(change.timePs))
    {
        m_text.Begin('B', NETWORK, 1, change.timePs)
            .Text("name", "reconfiguration")
            .Arguments()
            .Uint("new_circuits", change.newCircuits);
        m_text.End();
        m_isPaused = true;
    }
}

void
Timeline::OnLinksChanged(uint64_t timePs)
{
    if (std::exchange(m_isPaused, false))
    {
        m_text.Begin('E', NETWORK, 1, timePs).End();
    }
}

void
Timeline::Finish(uint64_t timePs)
{
    OnLinksChanged(timePs);
    for (const auto& [at, thread] : m_messageNodes)
    {
        m_text.Begin('E', at.first, thread, timePs).End();
    }
    for (const auto& [key, chunk] : m_chunks)
    {
        const Running& running = m_collectives[key.first];
        const uint32_t thread = running.lanes[chunk.lane].thread;
        if (chunk.leftPs == RUNNING)
        {
            m_text.Begin('E', key.first.first, thread, timePs).End();
        }
        m_text.Begin('E', key.first.first, thread, timePs).End();
    }
    for (const auto& [at, running] : m_collectives)
    {
        for (const Lane& lane : running.lanes)
        {
            m_text.Begin('E', at.first, lane.thread, timePs).End();
        }
    }
    if (m_leftOut > 0)
    {
        m_text.Begin('i', NETWORK, 0, timePs)
            .Text("s", "g")
            .Text("name",
                  "the size limit is reached: " + std::to_string(m_leftOut) +
                      " events are left out");
        m_text.End();
    }
    JsonWriter other;
    other.BeginObject();
    other.Key("simulated_ns").Nanoseconds(timePs);
    other.Key("events_left_out").Uint(m_leftOut);
    other.Key("ranks_shown")
        .Uint(static_cast<uint64_t>(std::count(m_isShown.begin(), m_isShown.end(), true)));
    other.Key("ranks").Uint(m_isShown.size());
    other.EndObject();
    m_text.Finish(other.GetText());
}

} // namespace cosim
