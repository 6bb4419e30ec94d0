/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timeline.h"

#include "stream/node-name.h"
#include "support/json-writer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// @return the track of a traffic class of a port
uint32_t
GetPauseThread(const PortPauseEvent& event)
{
    constexpr uint32_t first = 16; // after other tracks of the network
    constexpr uint32_t classes = 8;
    return first + event.link * classes + event.trafficClass;
}

} // namespace

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
