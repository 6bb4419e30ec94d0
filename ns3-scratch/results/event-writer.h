/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_EVENT_WRITER_H
#define COSIM_EVENT_WRITER_H

#include "network/run-observer.h"
#include "support/json-writer.h"

#include <cstdint>
#include <ostream>
#include <string_view>

namespace cosim
{

/**
 * Writes each event of a run as one line of JSON. A line has the name of the event, its time in
 * nanoseconds (formatted as in a result), and the fields of the event struct in RunObserver. Nodes
 * are written with the names of their layer and job, and collectives with their own name.
 */
class EventWriter : public RunObserver
{
  public:
    /// @param out receives the lines; the caller checks it for errors; must outlive the writer
    explicit EventWriter(std::ostream& out);

    uint32_t GetKinds() const override;
    void OnNodeBegun(const NodeEvent& event) override;
    void OnNodeEnded(const NodeEvent& event) override;
    void OnCollectiveBegun(const CollectiveEvent& event) override;
    void OnCollectiveEnded(const CollectiveEvent& event) override;
    void OnChunkBegun(const ChunkEvent& event) override;
    void OnChunkEnded(const ChunkEvent& event) override;
    void OnMessageSent(const MessageEvent& event) override;
    void OnMessageDelivered(const MessageEvent& event) override;
    void OnPacketDropped(const PacketEvent& event) override;
    void OnPacketRetransmitted(const FlowEvent& event, uint32_t payloadBytes) override;
    void OnFlowTimedOut(const FlowEvent& event, uint64_t waitedPs) override;
    void OnLinkPauseBegun(const LinkChange& change) override;
    void OnLinksChanged(uint64_t timePs) override;

  private:
    static JsonWriter Begin(std::string_view name, uint64_t timePs);
    static JsonWriter BeginFlow(std::string_view name, const FlowEvent& event);
    void End(JsonWriter& line);
    void WriteNode(std::string_view name, const NodeEvent& event);
    void WriteCollective(std::string_view name, const CollectiveEvent& event);
    void WriteChunk(std::string_view name, const ChunkEvent& event);
    void WriteMessage(std::string_view name, const MessageEvent& event);

    std::ostream& m_out;
};

} // namespace cosim

#endif // COSIM_EVENT_WRITER_H
