/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKET_FABRIC_H
#define COSIM_PACKET_FABRIC_H

#include "network/fabric-base.h"
#include "network/link-summary.h"
#include "support/fifo-queue.h"
#include "transport/flow-observer.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Base class of the two packet-level fabrics. It maps messages to flows, and measures.
 *
 * A flow is a TCP connection from one rank to another; each path of the topology has one. The byte
 * stream of a flow carries messages one after another. The fabric knows where each message ends, so
 * it adds nothing to the stream. A message is delivered when its last byte is delivered in order.
 */
class PacketFabric : public FabricBase, protected FlowObserver
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; must outlive the fabric
     */
    PacketFabric(const Topology& topology, const Settings& settings);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
        override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;

    // Fabric
    void Start() override;
    uint64_t GetDeliveredBytes() const override;
    NetworkStatistics GetStatistics() const override;
    std::vector<LinkCounters> GetLinks() const override;
    FlowState GetFlowState(uint32_t path) const override;

  protected:
    /// @return the counters of this class and its base (see Repeatable)
    NetworkCounters GetPacketCounters() const;

    /// Count again what this class and its base count (see Repeatable::Repeat).
    void RepeatPackets(const NetworkCounters& from, uint64_t times, uint64_t periodPs);

    /// @return true if every message is delivered, and no callback waits for an acknowledgment
    bool IsDelivered() const;

    /// Log each round trip from now on.
    void StartRoundTripLog()
    {
        m_isLogging = m_settings.rttSampleIntervalPs != 0;
    }

    /// @param count number of logged round trips from which on the log is still needed
    void TrimRoundTripLog(std::size_t count);

    /// Build nodes and links, and everything else that must exist before the clock starts.
    virtual void Build() = 0;

    /**
     * Append bytes to the stream of a flow.
     *
     * @param flow id of the flow
     * @param bytes number of bytes, at least 1
     */
    virtual void Submit(FlowId flow, uint64_t bytes) = 0;

    /// @return the congestion window of a flow; 0 before its first message [bytes]
    virtual uint32_t GetWindow(FlowId flow) const = 0;

    // FlowObserver
    void OnDelivered(FlowId flow, uint64_t bytes) override;
    void OnAcked(FlowId flow, uint64_t bytes) override;
    void OnPacketSent(FlowId flow,
                      uint32_t wireBytes,
                      uint32_t payloadBytes,
                      bool isRetransmission) override;
    void OnRepeated(FlowId flow) override;
    void OnRttSample(FlowId flow, ns3::Time rtt) override;
    void OnTimeout(FlowId flow, ns3::Time waited) override;
    void OnClosed(FlowId flow) override;

    /**
     * Report a dropped packet to the observers.
     *
     * @param link link whose egress queue had no room for the packet
     * @param wireBytes packet size, all headers included [bytes]
     */
    void ReportDrop(uint32_t link, uint32_t wireBytes) const;

    /**
     * @return the number of flows. Each path of the topology has a flow, and the flow's id is the
     * index of the path.
     */
    uint32_t GetFlowCount() const;

    /// @return the current links from the source of a flow to its target
    std::span<const uint32_t> GetPath(FlowId flow) const;

    /// @return the flow in the opposite direction; the ACKs of this flow take its path
    FlowId GetReverse(FlowId flow) const;

    /**
     * Let the time pass in which all connections open, one after another, before the clock starts.
     * Events that were scheduled for this time run.
     */
    void PassHandshakes();

    /// @return the time at which the connection of a flow begins to open
    ns3::Time GetHandshakeStart(FlowId flow) const
    {
        return m_handshakeStarts[flow];
    }

    /// @return the time at which the last handshake has ended
    ns3::Time GetHandshakesEnd() const
    {
        return m_handshakesEnd;
    }

    /// @return the number of bytes that were appended to the stream of a flow and are not delivered
    uint64_t GetUndelivered(FlowId flow) const;

    /// @return the size of a full segment on the wire [bytes]
    uint32_t GetMaxWireBytes() const;

  private:
    /// A message that has not been delivered.
    struct Message
    {
        /// offset in the stream of the flow, one past the last byte of the message
        uint64_t streamEnd;
        uint64_t bytes; //!< message size as sent; a message of 0 bytes takes one byte of the stream
        uint64_t tag;
        int64_t sentPs; //!< time at which it was handed over, on the clock of NowPs
        bool isPut;     //!< true if the message goes to the ArrivalHandler
    };

    /// A callback that waits for an acknowledgment.
    struct AwaitedAck
    {
        uint64_t streamEnd;
        Callback sent;
    };

    /// The stream of a flow, in one cache line.
    struct alignas(64) Flow
    {
        FifoQueue<Message> messages;
        uint64_t submitted{0};
        uint64_t delivered{0};
        double rttSumNs{0}; //!< of the samples of the intervals that have ended
        uint32_t rttSamples{0};
    };

    /// What the ACKs of a flow change. They arrive at other times than messages.
    struct alignas(32) Answers
    {
        std::unique_ptr<FifoQueue<AwaitedAck>> awaited; //!< null until something is awaited
        uint64_t acked{0};
        int64_t rttInterval{-1}; //!< index of the interval of the latest round trip; -1: none
        double rttLatestNs{0};
    };

    /// A round trip in the log.
    struct LoggedRoundTrip
    {
        int64_t timePs; //!< on the clock of NowPs
        double rttNs;
        FlowId flow;
    };

    void SampleRoundTrip(FlowId id, int64_t timePs, double rttNs);
    void PlanHandshakes();
    void SubmitMessage(FlowId id, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    void ReportRetransmission(FlowId id, uint32_t payloadBytes) const;
    FlowEvent MakeEvent(FlowId id) const;
    void AddRttStatistics(NetworkStatistics& statistics) const;
    void AddLinkStatistics(NetworkStatistics& statistics) const;

    std::vector<Flow> m_flows;
    std::vector<Answers> m_answers;           //!< per flow
    std::vector<ns3::Time> m_handshakeStarts; //!< per flow
    ns3::Time m_handshakesEnd;
    bool m_isStarted{false}; //!< measurements of connections before the start do not count
    bool m_isLogging{false};
    int64_t m_timeoutPs{0};                    //!< time of the latest retransmission timeout
    std::vector<LoggedRoundTrip> m_roundTrips; //!< the log, without what was trimmed
    std::size_t m_trimmed{0};                  //!< number of round trips that were trimmed
};

} // namespace cosim

#endif // COSIM_PACKET_FABRIC_H
