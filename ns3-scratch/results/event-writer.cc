/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/event-writer.h"

namespace cosim
{

namespace
{

std::string_view
NameOf(NodeType type)
{
    switch (type)
    {
    case NodeType::COMPUTE:
        return "compute";
    case NodeType::COLLECTIVE:
        return "collective";
    case NodeType::SEND:
        return "send";
    case NodeType::RECV:
        return "recv";
    case NodeType::TIMER:
        return "timer";
    }
    return "";
}

} // namespace

EventWriter::EventWriter(std::ostream& out)
    : m_out(out)
{
}

uint32_t
EventWriter::GetKinds() const
{
    return NODES | COLLECTIVES | CHUNKS | MESSAGES | LOSSES | LINKS;
}

void
EventWriter::OnNodeBegun(const NodeEvent& event)
{
    WriteNode("node_begun", event);
}

void
EventWriter::OnNodeEnded(const NodeEvent& event)
{
    WriteNode("node_ended", event);
}

void
EventWriter::OnCollectiveBegun(const CollectiveEvent& event)
{
    WriteCollective("collective_begun", event);
}

void
EventWriter::OnCollectiveEnded(const CollectiveEvent& event)
{
    WriteCollective("collective_ended", event);
}

void
EventWriter::OnChunkBegun(const ChunkEvent& event)
{
    WriteChunk("chunk_begun", event);
}

void
EventWriter::OnChunkEnded(const ChunkEvent& event)
{
    WriteChunk("chunk_ended", event);
}

void
EventWriter::OnMessageSent(const MessageEvent& event)
{
    WriteMessage("message_sent", event);
}

void
EventWriter::OnMessageDelivered(const MessageEvent& event)
{
    WriteMessage("message_delivered", event);
}

void
EventWriter::OnPacketDropped(const PacketEvent& event)
{
    JsonWriter line = Begin("packet_dropped", event.timePs);
    line.Key("link").Uint(event.link);
    line.Key("source").Uint(event.source);
    line.Key("target").Uint(event.target);
    line.Key("wire_bytes").Uint(event.wireBytes);
    End(line);
}

void
EventWriter::OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes)
{
    JsonWriter line = BeginFlow("packet_retransmitted", event);
    line.Key("payload_bytes").Uint(payloadBytes);
    End(line);
}

void
EventWriter::OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs)
{
    JsonWriter line = BeginFlow("flow_timed_out", event);
    line.Key("waited_ns").Nanoseconds(waitedPs);
    End(line);
}

void
EventWriter::OnLinkPauseBegun(const LinkChange& change)
{
    JsonWriter line = Begin("link_pause_begun", change.timePs);
    line.Key("new_circuits").Uint(change.newCircuits);
    line.Key("demand_bytes").Uint(change.demandBytes);
    line.Key("demand_pairs").Uint(change.demandPairs);
    line.Key("distant_pairs").Uint(change.distantPairs);
    End(line);
}

void
EventWriter::OnLinksChanged(uint64_t timePs)
{
    JsonWriter line = Begin("links_changed", timePs);
    End(line);
}

JsonWriter
EventWriter::Begin(std::string_view name, uint64_t timePs)
{
    JsonWriter line;
    line.BeginObject();
    line.Key("event").String(name);
    line.Key("time_ns").Nanoseconds(timePs);
    return line;
}

JsonWriter
EventWriter::BeginFlow(std::string_view name, const FlowEvent& event)
{
    JsonWriter line = Begin(name, event.timePs);
    line.Key("src").Uint(event.src);
    line.Key("dst").Uint(event.dst);
    line.Key("route").Uint(event.route);
    return line;
}

void
EventWriter::End(JsonWriter& line)
{
    line.EndObject();
    m_out << line.GetText() << '\n';
}

void
EventWriter::WriteNode(std::string_view name, const NodeEvent& event)
{
    const Trace& trace = *event.trace;
    JsonWriter line = Begin(name, event.timePs);
    line.Key("rank").Uint(event.rank);
    line.Key("node").Uint(event.node);
    line.Key("name").String(trace.names[event.node]);
    line.Key("type").String(NameOf(trace.type[event.node]));
    line.Key("layer").String(trace.layers[trace.layer[event.node]]);
    line.Key("iteration").Uint(trace.iteration[event.node]);
    if (!trace.job.empty() && trace.job[event.node] != 0)
    {
        line.Key("job").String(trace.jobs[trace.job[event.node] - 1]);
    }
    End(line);
}

void
EventWriter::WriteCollective(std::string_view name, const CollectiveEvent& event)
{
    JsonWriter line = Begin(name, event.timePs);
    line.Key("rank").Uint(event.rank);
    line.Key("collective").Uint(event.collective->id);
    line.Key("name").String(event.collective->name);
    End(line);
}

void
EventWriter::WriteChunk(std::string_view name, const ChunkEvent& event)
{
    JsonWriter line = Begin(name, event.timePs);
    line.Key("rank").Uint(event.rank);
    line.Key("collective").Uint(event.collective->id);
    line.Key("chunk").Uint(event.chunk);
    line.Key("phase").Uint(event.phase);
    line.Key("dimension").Uint(event.dimension);
    End(line);
}

void
EventWriter::WriteMessage(std::string_view name, const MessageEvent& event)
{
    JsonWriter line = Begin(name, event.timePs);
    line.Key("src").Uint(event.src);
    line.Key("dst").Uint(event.dst);
    line.Key("bytes").Uint(event.bytes);
    line.Key("tag").Uint(event.tag);
    line.Key("route").Uint(event.route);
    End(line);
}

} // namespace cosim
