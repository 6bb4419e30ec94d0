/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/event-writer.h"

#include "support/json-writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace cosim
{

template <>
inline constexpr auto FIELDS<NodeEvent> =
    std::make_tuple(Field{"rank", &NodeEvent::rank}, Field{"node", &NodeEvent::node});

template <>
inline constexpr auto FIELDS<CollectiveEvent> = std::make_tuple(
    Field{"rank", &CollectiveEvent::rank},
    Field{"collective", [](const CollectiveEvent& event) { return event.collective->id; }},
    Field{"name",
          [](const CollectiveEvent& event) { return std::string_view(event.collective->name); }});

template <>
inline constexpr auto FIELDS<ChunkEvent> = std::make_tuple(
    Field{"rank", &ChunkEvent::rank},
    Field{"collective", [](const ChunkEvent& event) { return event.collective->id; }},
    Field{"chunk", &ChunkEvent::chunk},
    Field{"phase", &ChunkEvent::phase},
    Field{"dimension", &ChunkEvent::dimension});

template <>
inline constexpr auto FIELDS<MessageEvent> = std::make_tuple(Field{"src", &MessageEvent::src},
                                                             Field{"dst", &MessageEvent::dst},
                                                             Field{"bytes", &MessageEvent::bytes},
                                                             Field{"tag", &MessageEvent::tag},
                                                             Field{"route", &MessageEvent::route});

template <>
inline constexpr auto FIELDS<PacketEvent> =
    std::make_tuple(Field{"link", &PacketEvent::link},
                    Field{"source", &PacketEvent::source},
                    Field{"target", &PacketEvent::target},
                    Field{"wire_bytes", &PacketEvent::wireBytes});

template <>
inline constexpr auto FIELDS<PortPauseEvent> =
    std::make_tuple(Field{"link", &PortPauseEvent::link},
                    Field{"source", &PortPauseEvent::source},
                    Field{"target", &PortPauseEvent::target},
                    Field{"traffic_class",
                          [](const PortPauseEvent& event) { return uint32_t{event.trafficClass}; }},
                    Field{"hops", &PortPauseEvent::hops});

template <>
inline constexpr auto FIELDS<FlowEvent> = std::make_tuple(Field{"src", &FlowEvent::src},
                                                          Field{"dst", &FlowEvent::dst},
                                                          Field{"route", &FlowEvent::route});

namespace
{

class EventWriter : public RunObserver
{
  public:
    explicit EventWriter(std::ostream& out)
        : m_out(out)
    {
    }

    uint32_t GetKinds() const override
    {
        return NODES | COLLECTIVES | CHUNKS | MESSAGES | LOSSES | LINKS | PAUSES;
    }

    void OnNodeBegun(const NodeEvent& event) override
    {
        WriteNode("node_begun", event);
    }

    void OnNodeEnded(const NodeEvent& event) override
    {
        WriteNode("node_ended", event);
    }

    void OnCollectiveBegun(const CollectiveEvent& event) override
    {
        Write("collective_begun", event);
    }

    void OnCollectiveEnded(const CollectiveEvent& event) override
    {
        Write("collective_ended", event);
    }

    void OnChunkBegun(const ChunkEvent& event) override
    {
        Write("chunk_begun", event);
    }

    void OnChunkEnded(const ChunkEvent& event) override
    {
        Write("chunk_ended", event);
    }

    void OnMessageSent(const MessageEvent& event) override
    {
        Write("message_sent", event);
    }

    void OnMessageDelivered(const MessageEvent& event) override
    {
        Write("message_delivered", event);
    }

    void OnPacketDropped(const PacketEvent& event) override
    {
        Write("packet_dropped", event);
    }

    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override
    {
        Write("packet_retransmitted", event, Named{"payload_bytes", payloadBytes});
    }

    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override
    {
        Write("flow_timed_out", event, Named{"waited_ns", waitedPs});
    }

    void OnPortPaused(const PortPauseEvent& event) override
    {
        Write("port_paused", event);
    }

    void OnPortResumed(const PortPauseEvent& event) override
    {
        Write("port_resumed", event);
    }

    void OnLinkPauseBegun(const LinkChange& change) override
    {
        Write("link_pause_begun", change);
    }

    void OnLinksChanged(uint64_t timePs) override
    {
        JsonWriter line;
        line.Object(Named{"event", "links_changed"}, Named{"time_ns", timePs});
        m_out << line.GetText() << '\n';
    }

  private:
    template <typename Event, typename... T>
    void Write(std::string_view name, const Event& event, const Named<T>&... others)
    {
        JsonWriter line;
        line.BeginObject();
        line.Member("event", name);
        line.Member("time_ns", event.timePs);
        line.Members(event);
        (line.Member(others.name, others.value), ...);
        line.EndObject();
        m_out << line.GetText() << '\n';
    }

    void WriteNode(std::string_view name, const NodeEvent& event)
    {
        constexpr std::array types{"compute", "collective", "send", "recv", "timer"};
        const Trace& trace = *event.trace;
        const uint32_t node = event.node;
        const uint32_t job = trace.job.empty() ? 0 : trace.job[node];
        Write(name,
              event,
              Named{"name", trace.names[node]},
              Named{"type", types[static_cast<std::size_t>(trace.type[node])]},
              Named{"layer", trace.layers[trace.layer[node]]},
              Named{"iteration", trace.iteration[node]},
              Named{"job", job == 0 ? std::nullopt : std::optional(trace.jobs[job - 1])});
    }

    std::ostream& m_out;
};

} // namespace

std::unique_ptr<RunObserver>
MakeEventWriter(std::ostream& out)
{
    return std::make_unique<EventWriter>(out);
}

} // namespace cosim
