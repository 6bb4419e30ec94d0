/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKET_FABRIC_H
#define COSIM_PACKET_FABRIC_H

#include "clock/last-event.h"
#include "fabrics/packet/datapath.h"
#include "network/fabric-base.h"
#include "network/link-summary.h"
#include "network/zones.h"
#include "support/ring-buffer.h"
#include "transport/flow-observer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cosim
{

/**
 * A fabric that carries messages as packets. It maps messages to flows, and measures; a Datapath
 * carries the packets.
 *
 * The byte stream of a flow carries messages one after another. The fabric knows where each message
 * ends, so it adds nothing to the stream. A message is delivered when its last byte is delivered in
 * order.
 *
 * In which order parts of the network that share nothing act in a picosecond decides nothing: what
 * is delivered or acknowledged is handed over after all that happens in its picosecond, in the
 * order of its Zones, and what is sent enters its flow after that.
 */
class PacketFabric final : public FabricBase, private DatapathClient
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; must outlive the fabric
     * @param make makes the datapath
     */
    PacketFabric(const Topology& topology, const Settings& settings, const DatapathMaker& make);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
        override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;

    // Fabric
    void Start() override;
    void Finish() override;
    uint64_t GetDeliveredBytes() const override;
    uint64_t GetSentPackets() const override;
    NetworkStatistics GetStatistics() const override;
    std::vector<LinkCounters> GetLinks() const override;
    LinkCounters GetLink(uint32_t link) const override;
    FlowState GetFlowState(uint32_t path) const override;
    LinkControl* GetLinkControl() override;
    void Abandon(uint32_t path) override;

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

    /// A message that is delivered, and handed over at the end of the picosecond.
    struct Arrival
    {
        FlowId flow;
        Message message;
    };

    /// A callback whose bytes are acknowledged, and that is called at the end of the picosecond.
    struct Answer
    {
        FlowId flow;
        Callback sent;
    };

    /// The stream of a flow, in one cache line.
    struct alignas(64) Flow
    {
        RingBuffer<Message> messages;
        uint64_t submitted{0};
        uint64_t delivered{0};
        double rttSumNs{0}; //!< of the samples of the intervals that have ended
        uint32_t rttSamples{0};
        bool isAbandoned{false};

        /// @return the bytes that were appended to the stream and are not delivered
        uint64_t GetUndelivered() const
        {
            return submitted - delivered;
        }
    };

    /// What the ACKs of a flow change. They arrive at other times than messages.
    struct alignas(32) Answers
    {
        std::unique_ptr<RingBuffer<AwaitedAck>> awaited; //!< null until something is awaited
        uint64_t acked{0};
        int64_t rttInterval{-1}; //!< index of the interval of the latest round trip; -1: none
        double rttLatestNs{0};
    };

    // DatapathClient
    void OnDelivered(FlowId flow, uint64_t bytes) override;
    void OnAcked(FlowId flow, uint64_t bytes) override;
    void OnRetransmitted(FlowId flow, uint32_t payloadBytes) override;
    void OnRepeated(FlowId flow) override;
    void OnRttSample(FlowId flow, ns3::Time rtt, ns3::Time oldest) override;
    void OnTimeout(FlowId flow, ns3::Time waited) override;
    void OnClosed(FlowId flow) override;
    void OnDropped(uint32_t link, uint32_t wireBytes) override;
    void OnPortPause(uint32_t link, uint8_t trafficClass, uint32_t hops, bool isPaused) override;
    void OnFailure(const std::string& failure) override;
    void AddUndelivered(std::vector<uint64_t>& bytes) const override;
    void OnReplayed(FlowId flow, int64_t startPs, std::span<const RoundTrip> roundTrips) override;

    /// @return the number of flows
    FlowId GetFlowCount() const
    {
        return static_cast<FlowId>(m_flows.size());
    }

    void DeliverAll();
    void SubmitAll();
    template <typename T, typename Use>
    void TakeByZone(std::vector<T>& items, const Use& use);
    void SampleRoundTrip(FlowId id, int64_t timePs, double rttNs);
    void SubmitMessage(FlowId id, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    FlowEvent MakeEvent(FlowId id) const;
    void AddRttStatistics(NetworkStatistics& statistics) const;
    void AddLinkStatistics(NetworkStatistics& statistics) const;

    std::vector<Flow> m_flows;
    std::vector<Answers> m_answers; //!< per flow
    Zones m_zones;
    std::vector<Arrival> m_arrivals;
    std::vector<Answer> m_answered;
    std::vector<Submission> m_submissions; //!< that enter their flows at the end of the picosecond
    LastEvent m_deliver{LastEvent::Turn::ARRIVE, [this] { DeliverAll(); }};
    LastEvent m_submit{LastEvent::Turn::SUBMIT, [this] { SubmitAll(); }};
    std::optional<HandshakePlan> m_handshakes;
    std::unique_ptr<Datapath> m_datapath;
    bool m_isStarted{false}; //!< measurements of connections before the start do not count
    int64_t m_timeoutPs{0};  //!< time of the latest retransmission timeout
};

} // namespace cosim

#endif // COSIM_PACKET_FABRIC_H
