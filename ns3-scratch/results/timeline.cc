/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/timeline.h"

#include "support/json-writer.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cosim
{

Timeline::Timeline(const Stream& stream, const TimelineOptions& options, TextSink sink)
    : m_text(std::move(sink), options.limitBytes),
      m_scope(options, stream.topology.ranks, m_text),
      m_tracks(stream.topology.ranks, m_text),
      m_collectives(stream, m_scope, m_text, m_tracks),
      m_counters(stream.topology, options, m_scope, m_text, m_tracks),
      m_nodeTimes(stream.topology.ranks),
      m_isComputing(stream.topology.ranks)
{
}

uint32_t
Timeline::GetKinds() const
{
    return NODES | COLLECTIVES | CHUNKS | STEPS | LOSSES | LINKS;
}

void
Timeline::OnNodeBegun(const NodeEvent& event)
{
    if (!m_scope.Shows(event.rank))
    {
        return;
    }
    const Trace& trace = *event.trace;
    std::vector<uint64_t>& times = m_nodeTimes[event.rank];
    times.resize(trace.type.size());
    times[event.node] = event.timePs;
    const NodeType type = trace.type[event.node];
    if ((type == NodeType::SEND || type == NodeType::RECV || type == NodeType::TIMER) &&
        m_scope.Accepts(event.timePs))
    {
        m_tracks.Use(event.rank);
        const uint32_t thread = m_tracks.Take(event.rank);
        m_messageNodes[{event.rank, event.node}] = thread;
        TraceEvent line = m_text.Begin('B', event.rank, thread, event.timePs);
        line.Text("name", trace.names[event.node]).Arguments();
        if (type != NodeType::TIMER)
        {
            line.Uint("bytes", trace.bytes[event.node]).Uint("peer", trace.peer[event.node]);
        }
        WriteWait(event, line);
        line.End();
    }
    else if (type == NodeType::COMPUTE && m_scope.Accepts(event.timePs))
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
    if (!m_scope.Shows(event.rank))
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
    if (begin < m_scope.GetStart() && event.timePs >= m_scope.GetStart() &&
        m_scope.Accepts(m_scope.GetStart()))
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

void
Timeline::OnCollectiveBegun(const CollectiveEvent& event)
{
    m_collectives.BeginCollective(event);
}

void
Timeline::OnCollectiveEnded(const CollectiveEvent& event)
{
    m_collectives.EndCollective(event);
}

void
Timeline::OnChunkBegun(const ChunkEvent& event)
{
    m_collectives.BeginPhase(event);
}

void
Timeline::OnChunkEnded(const ChunkEvent& event)
{
    m_collectives.EndPhase(event);
}

void
Timeline::OnStepSent(const StepMessageEvent& event)
{
    m_counters.AddInFlight(event);
    m_collectives.BeginArrow(event);
}

void
Timeline::OnStepReceived(const StepMessageEvent& event)
{
    m_counters.RemoveInFlight(event);
    m_collectives.EndArrow(event);
}

/// @return true if the retransmission or timeout of a flow is shown
bool
Timeline::ShowsMark(const FlowEvent& event)
{
    return m_scope.Shows(event.src) && m_scope.Accepts(event.timePs);
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

void
Timeline::OnLinkPauseBegun(const LinkChange& change)
{
    if (m_scope.Accepts(change.timePs))
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
    if (m_scope.GetLeftOut() > 0)
    {
        m_text.Begin('i', TimelineTracks::NETWORK, 0, timePs)
            .Text("s", "g")
            .Text("name",
                  "the size limit is reached: " + std::to_string(m_scope.GetLeftOut()) +
                      " events are left out")
            .End();
    }
    JsonWriter other;
    other.BeginObject();
    other.Key("simulated_ns").Nanoseconds(timePs);
    other.Key("events_left_out").Uint(m_scope.GetLeftOut());
    other.Key("ranks_shown").Uint(m_scope.GetShown());
    other.Key("ranks").Uint(m_isComputing.size());
    other.EndObject();
    m_text.Finish(other.GetText());
}

} // namespace cosim
