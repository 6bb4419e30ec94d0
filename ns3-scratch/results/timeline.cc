/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timeline.h"

#include "results/bus-bandwidth.h"
#include "stream/node-name.h"
#include "support/json-writer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// Shortest time between two points of the counter of bytes in flight [ps].
constexpr uint64_t IN_FLIGHT_INTERVAL_PS = 100'000;

/// How much longer the interval becomes.
constexpr uint64_t GROWTH = 4;

/// @return the flows that have a counter: some of those that start at a shown rank
std::vector<uint32_t>
ChooseFlows(const Topology& topology, const TimelineOptions& options, const TimelineTracks& tracks)
{
    std::vector<uint32_t> shown;
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        if (tracks.Shows(topology.pathSource[path]))
        {
            shown.push_back(path);
        }
    }
    return SpreadFlows(shown, options.counterFlows);
}

/// @return the track of a traffic class of a port
uint32_t
GetPauseThread(const PortPauseEvent& event)
{
    constexpr uint32_t first = 16; // after other tracks of the network
    constexpr uint32_t classes = 8;
    return first + event.link * classes + event.trafficClass;
}

} // namespace

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

CounterTracks::CounterTracks(const Topology& topology,
                             const TimelineOptions& options,
                             TimelineTracks& tracks,
                             TraceText& text)
    : m_tracks(tracks),
      m_text(text),
      m_inFlight{TimelineTracks::NETWORK, "bytes in flight", false},
      m_intervalPs(options.counterPs),
      m_sampler(FindCommonLinks(topology, options.counterLinks),
                ChooseFlows(topology, options, tracks),
                options.counterPs,
                [this](const NetworkSample& sample) { return Write(sample); })
{
    for (const uint32_t link : m_sampler.GetLinks())
    {
        const std::string name = "link " + std::to_string(link) + ", " +
                                 NameNode(topology, topology.linkSource[link]) + " to " +
                                 NameNode(topology, topology.linkTarget[link]);
        m_utilizations.push_back({TimelineTracks::NETWORK, name + ": utilization", true});
        m_queues.push_back({TimelineTracks::NETWORK, name + ": queue", false});
    }
    for (const uint32_t path : m_sampler.GetFlows())
    {
        m_windows.push_back({topology.pathSource[path],
                             "cwnd to rank " + std::to_string(topology.pathTarget[path]) +
                                 ", path " + std::to_string(path),
                             false});
    }
}

/// @return the interval to the next sample [ps]
uint64_t
CounterTracks::Write(const NetworkSample& sample)
{
    for (std::size_t i = 0; i < sample.links.size(); ++i)
    {
        const LinkSample& link = sample.links[i];
        const double utilization =
            link.rateBps == 0 ? 0 : link.throughputBps / static_cast<double>(link.rateBps);
        // The utilization of an interval is shown from its start.
        Set(m_utilizations[i],
            sample.sincePs,
            static_cast<uint64_t>(std::lround(100 * std::min(utilization, 1.0))));
        if (sample.isIdle)
        {
            Set(m_utilizations[i], sample.nowPs, 0);
        }
        Set(m_queues[i], sample.nowPs, link.queuedBytes);
    }
    for (std::size_t i = 0; i < sample.flows.size(); ++i)
    {
        Set(m_windows[i], sample.nowPs, sample.flows[i].windowBytes);
    }
    if (++m_samples == SAMPLES)
    {
        m_samples = 0;
        m_intervalPs *= GROWTH;
    }
    return m_intervalPs;
}

void
CounterTracks::OnStepSent(const StepMessageEvent& event)
{
    m_inFlightBytes += event.bytes;
    WriteInFlight(event.timePs);
}

void
CounterTracks::OnStepReceived(const StepMessageEvent& event)
{
    m_inFlightBytes -= event.bytes;
    WriteInFlight(event.timePs);
}

void
CounterTracks::WriteInFlight(uint64_t timePs)
{
    if (m_inFlightBytes == 0 || m_inFlightWrittenPs == 0 ||
        timePs >= m_inFlightWrittenPs + IN_FLIGHT_INTERVAL_PS)
    {
        m_inFlightWrittenPs = timePs;
        Set(m_inFlight, timePs, m_inFlightBytes);
    }
}

/// Write the value of a counter if it differs from the one before.
void
CounterTracks::Set(Counter& counter, uint64_t timePs, uint64_t value)
{
    if (counter.value == value || !m_tracks.Accepts(timePs))
    {
        return;
    }
    counter.value = value;
    if (counter.process != TimelineTracks::NETWORK)
    {
        m_tracks.Use(counter.process);
    }
    TraceEvent line = m_text.Begin('C', counter.process, 0, timePs);
    line.Text("name", counter.name).Arguments();
    (counter.isShare ? line.Uint("percent", value) : line.Uint("bytes", value)).End();
}

JobTracks::JobTracks(const Stream& stream, TimelineTracks& tracks, TraceText& text)
    : m_tracks(tracks),
      m_text(text),
      m_record(stream),
      m_current(m_record.GetJobs().size())
{
    if (m_current.empty())
    {
        return;
    }
    m_text.BeginMeta(PROCESS, 0, "process_name").Text("name", "jobs").End();
    for (std::size_t job = 0; job < m_current.size(); ++job)
    {
        const auto thread = static_cast<uint32_t>(job + 1);
        m_text.BeginMeta(PROCESS, thread, "thread_name")
            .Text("name", m_record.GetJobs()[job].name)
            .End();
        m_text.BeginMeta(PROCESS, thread, "thread_sort_index").Uint("sort_index", thread).End();
    }
}

/// Begin the iteration of a job that runs, once, from the start of the window on.
void
JobTracks::Show(std::size_t job, uint64_t timePs)
{
    Current& current = m_current[job];
    if (current.isTried || timePs < m_tracks.GetStart() ||
        current.iteration == m_record.GetJobs()[job].iterations.size())
    {
        return;
    }
    current.isTried = true;
    if (m_tracks.Accepts(timePs))
    {
        current.isOpen = true;
        m_text
            .Begin('B',
                   PROCESS,
                   static_cast<uint32_t>(job + 1),
                   std::max(current.beginPs, m_tracks.GetStart()))
            .Text("name", "iteration " + std::to_string(current.iteration))
            .End();
    }
}

void
JobTracks::OnNodeBegun(const NodeEvent& event)
{
    m_record.OnNodeBegun(event);
    const std::vector<uint32_t>& jobs = event.trace->job;
    if (!jobs.empty() && jobs[event.node] != 0)
    {
        const std::size_t job = jobs[event.node] - 1;
        m_current[job].beginPs = std::min(m_current[job].beginPs, event.timePs);
        Show(job, event.timePs);
    }
}

void
JobTracks::OnNodeEnded(const NodeEvent& event)
{
    m_record.OnNodeEnded(event);
    const std::vector<uint32_t>& jobs = event.trace->job;
    if (jobs.empty() || jobs[event.node] == 0)
    {
        return;
    }
    const std::size_t job = jobs[event.node] - 1;
    const std::vector<JobRecord::Iteration>& iterations = m_record.GetJobs()[job].iterations;
    Current& current = m_current[job];
    while (current.iteration < iterations.size() && iterations[current.iteration].nodesLeft == 0)
    {
        if (current.isOpen)
        {
            m_text.Begin('E', PROCESS, static_cast<uint32_t>(job + 1), event.timePs).End();
        }
        current = {current.iteration + 1, event.timePs, false, false};
        Show(job, event.timePs);
    }
}

void
JobTracks::Finish(uint64_t timePs)
{
    for (std::size_t job = 0; job < m_current.size(); ++job)
    {
        if (m_current[job].isOpen)
        {
            m_text.Begin('E', PROCESS, static_cast<uint32_t>(job + 1), timePs).End();
        }
    }
}

Timeline::Timeline(const Stream& stream, const TimelineOptions& options, TextSink sink)
    : m_text(std::move(sink), options.limitBytes),
      m_tracks(options, stream.topology.ranks, m_text),
      m_collectives(stream, m_tracks, m_text),
      m_counters(stream.topology, options, m_tracks, m_text),
      m_jobs(stream, m_tracks, m_text),
      m_nodeTimes(stream.topology.ranks),
      m_isComputing(stream.topology.ranks),
      m_topology(stream.topology)
{
}

std::vector<RunObserver*>
Timeline::GetObservers()
{
    std::vector<RunObserver*> observers{this, &m_counters, &m_collectives, &m_jobs};
    if (m_counters.IsSampled())
    {
        observers.push_back(&m_counters.GetSampler());
    }
    return observers;
}

void
Timeline::OnNodeBegun(const NodeEvent& event)
{
    if (!m_tracks.Shows(event.rank))
    {
        return;
    }
    const Trace& trace = *event.trace;
    std::vector<uint64_t>& times = m_nodeTimes[event.rank];
    times.resize(trace.type.size());
    times[event.node] = event.timePs;
    const NodeType type = trace.type[event.node];
    if ((type == NodeType::SEND || type == NodeType::RECV || type == NodeType::TIMER) &&
        m_tracks.Accepts(event.timePs))
    {
        m_tracks.Use(event.rank);
        const uint32_t thread = m_tracks.Take(event.rank);
        m_messageNodes[{event.rank, event.node}] = thread;
        TraceEvent line = m_text.Begin('B', event.rank, thread, event.timePs);
        line.Text("name", trace.names[event.node]).Arguments();
        if (type != NodeType::TIMER)
        {
            line.Text("operation", type == NodeType::SEND ? "send" : "receive")
                .Uint("bytes", trace.bytes[event.node])
                .Uint("peer", trace.GetPeer(event.node, event.rank));
        }
        WriteWait(event, line);
        line.End();
    }
    else if (type == NodeType::COMPUTE && m_tracks.Accepts(event.timePs))
    {
        BeginCompute(event, event.timePs);
    }
}

/// Write what a node waited for: the dependency that ended last.
void
Timeline::WriteWait(const NodeEvent& event, TraceEvent& line) const
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
        line.Text("waited_for", trace.names[trace.dep[last]]);
    }
}

void
Timeline::OnNodeEnded(const NodeEvent& event)
{
    if (!m_tracks.Shows(event.rank))
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
    if (type != NodeType::COMPUTE)
    {
        return;
    }
    if (begin < m_tracks.GetStart() && event.timePs >= m_tracks.GetStart() &&
        m_tracks.Accepts(m_tracks.GetStart()))
    { // the window starts in the middle of the computation
        BeginCompute(event, begin);
    }
    if (m_isComputing[event.rank])
    {
        m_text.Begin('E', event.rank, TimelineTracks::COMPUTE, event.timePs).End();
        m_isComputing[event.rank] = false;
    }
}

/// Write the beginning of a computation.
void
Timeline::BeginCompute(const NodeEvent& event, uint64_t beginPs)
{
    const Trace& trace = *event.trace;
    m_isComputing[event.rank] = true;
    m_tracks.Use(event.rank);
    TraceEvent line = m_text.Begin('B', event.rank, TimelineTracks::COMPUTE, beginPs);
    line.Text("name", trace.names[event.node])
        .Arguments()
        .Text("layer", trace.layers[trace.layer[event.node]])
        .Uint("iteration", trace.iteration[event.node]);
    WriteWait(event, line);
    line.End();
}

/// @return true if the retransmission or timeout of a flow is shown
bool
Timeline::ShowsMark(const FlowEvent& event)
{
    return m_tracks.Shows(event.src) && m_tracks.Accepts(event.timePs);
}

/// Begin the mark of a retransmission or timeout.
TraceEvent
Timeline::BeginMark(const char* name, const FlowEvent& event)
{
    m_tracks.Use(event.src);
    TraceEvent line = m_text.Begin('i', event.src, 0, event.timePs);
    line.Text("s", "p").Text("name", name + std::to_string(event.dst)).Arguments();
    return line;
}

void
Timeline::OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes)
{
    if (ShowsMark(event))
    {
        BeginMark("retransmission to rank ", event).Uint("bytes", payloadBytes).End();
    }
}

void
Timeline::OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs)
{
    if (ShowsMark(event))
    {
        BeginMark("timeout to rank ", event).Microseconds("waited_us", waitedPs).End();
    }
}

/// Show a paused port in a track of its own, after the track of reconfigurations.
void
Timeline::OnPortPaused(const PortPauseEvent& event)
{
    const bool isShown = event.source >= m_topology.ranks || m_tracks.Shows(event.source);
    if (!isShown || !m_tracks.Accepts(event.timePs))
    {
        return;
    }
    const uint32_t thread = GetPauseThread(event);
    const auto [track, isNew] = m_pauseThreads.try_emplace(thread);
    if (isNew)
    {
        const std::string name = "port " + NameNode(m_topology, event.source) + " to " +
                                 NameNode(m_topology, event.target);
        m_text.BeginMeta(TimelineTracks::NETWORK, thread, "thread_name").Text("name", name).End();
        m_text.BeginMeta(TimelineTracks::NETWORK, thread, "thread_sort_index")
            .Uint("sort_index", thread)
            .End();
    }
    track->second = true;
    m_text.Begin('B', TimelineTracks::NETWORK, thread, event.timePs)
        .Text("name", "paused")
        .Arguments()
        .Uint("hops", event.hops)
        .Uint("traffic_class", event.trafficClass)
        .End();
}

void
Timeline::OnPortResumed(const PortPauseEvent& event)
{
    const uint32_t thread = GetPauseThread(event);
    if (const auto track = m_pauseThreads.find(thread);
        track != m_pauseThreads.end() && std::exchange(track->second, false))
    {
        m_text.Begin('E', TimelineTracks::NETWORK, thread, event.timePs).End();
    }
}

void
Timeline::OnLinkPauseBegun(const LinkChange& change)
{
    if (m_tracks.Accepts(change.timePs))
    {
        m_text.Begin('B', TimelineTracks::NETWORK, 1, change.timePs)
            .Text("name", "reconfiguration")
            .Arguments()
            .Uint("new_circuits", change.newCircuits)
            .End();
        m_isPaused = true;
    }
}

void
Timeline::OnLinksChanged(uint64_t timePs)
{
    if (std::exchange(m_isPaused, false))
    {
        m_text.Begin('E', TimelineTracks::NETWORK, 1, timePs).End();
    }
}

void
Timeline::Finish(uint64_t timePs)
{
    OnLinksChanged(timePs);
    for (const auto& [thread, isPaused] : m_pauseThreads)
    {
        if (isPaused)
        {
            m_text.Begin('E', TimelineTracks::NETWORK, thread, timePs).End();
        }
    }
    for (const auto& [at, thread] : m_messageNodes)
    {
        m_text.Begin('E', at.first, thread, timePs).End();
    }
    for (Rank rank = 0; rank < m_isComputing.size(); ++rank)
    {
        if (m_isComputing[rank])
        {
            m_text.Begin('E', rank, TimelineTracks::COMPUTE, timePs).End();
        }
    }
    m_collectives.Finish(timePs);
    m_jobs.Finish(timePs);
    if (m_tracks.GetLeftOut() > 0)
    {
        m_text.Begin('i', TimelineTracks::NETWORK, 0, timePs)
            .Text("s", "g")
            .Text("name",
                  "the size limit is reached: " + std::to_string(m_tracks.GetLeftOut()) +
                      " events are left out")
            .End();
    }
    JsonWriter other;
    other.BeginObject();
    other.Key("simulated_ns").Nanoseconds(timePs);
    other.Key("events_left_out").Uint(m_tracks.GetLeftOut());
    other.Key("ranks_shown").Uint(m_tracks.GetShown());
    other.Key("ranks").Uint(m_isComputing.size());
    other.EndObject();
    m_text.Finish(other.GetText());
}

} // namespace cosim
