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
#include <span>
#include <vector>

namespace cosim
{

/**
 * What the two packet-level fabrics share: messages over flows, and measurement.
 *
 * A flow is a TCP connection from one rank to another, one for each path of an ordered pair that
 * communicates. Its byte stream carries messages one behind the other; the fabric knows where each
 * ends, so nothing is added to the stream, and a message is delivered with its last byte in order.
 */
class PacketFabric : public FabricBase, protected FlowObserver
{
  public:
    /**
     * @param topology links and paths; outlives the fabric
     * @param settings the settings; outlive the fabric
     */
    PacketFabric(const Topology& topology, const Settings& settings);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
        override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;

    // Fabric
    void Start() override;
    NetworkStatistics GetStatistics() const override;

  protected:
    /// Build nodes and links, and establish what has to be before the clock starts.
    virtual void Build() = 0;

    /**
     * Append bytes to a flow's stream.
     *
     * @param flow the flow
     * @param bytes how many, at least one
     */
    virtual void Submit(FlowId flow, uint64_t bytes) = 0;

    /// @return the counters of a link since the start
    virtual LinkCounters GetLinkCounters(uint32_t link) const = 0;

    // FlowObserver
    void OnDelivered(FlowId flow, uint64_t bytes) override;
    void OnAcked(FlowId flow, uint64_t bytes) override;
    void OnPacketSent(FlowId flow,
                      uint32_t wireBytes,
                      uint32_t payloadBytes,
                      bool isRetransmission) override;
    void OnRttSample(FlowId flow, ns3::Time rtt) override;
    void OnTimeout(FlowId flow) override;
    void OnClosed(FlowId flow) override;

    /**
     * Tell the observers of a packet that is lost.
     *
     * @param link the link whose egress queue it would overrun
     * @param wireBytes its size, all headers included
     */
    void ReportDrop(uint32_t link, uint32_t wireBytes) const;

    /// @return the number of flows: one a path of the topology; a flow's id is its path's index
    uint32_t GetFlowCount() const;

    /// @return the links from the flow's source to its target, as they are now
    std::span<const uint32_t> GetPath(FlowId flow) const;

    /// @return the flow from the target to the source, whose path this flow's ACKs take
    FlowId GetReverse(FlowId flow) const;

    /// @return bytes of the flow's stream that were handed over and are not delivered
    uint64_t GetUndelivered(FlowId flow) const;

    /// @return the smallest number of bytes on the wire that carries a full segment
    uint32_t GetMaxWireBytes() const;

    /// Called once per packet and hop, so that a run can be watched and interrupted.
    void Poll()
    {
        if ((++m_polls & POLL_MASK) == 0 && m_pollHook)
        {
            m_pollHook();
        }
    }

  private:
    static constexpr uint64_t POLL_MASK = 4095;

    /// A message on its way.
    struct Message
    {
        uint64_t streamEnd; //!< offset in the flow's stream behind its last byte
        uint64_t bytes;     //!< as sent; 0 takes one byte of the stream
        uint64_t tag;
        int64_t sentPs; //!< when it was handed over, as NowPs
        bool isPut;     //!< goes to the ArrivalHandler
    };

    /// A sender that waits for an acknowledgement.
    struct AwaitedAck
    {
        uint64_t streamEnd;
        Callback sent;
    };

    /// A flow's stream and its measurements.
    struct Flow
    {
        FifoQueue<Message> messages;
        FifoQueue<AwaitedAck> awaitedAcks;
        uint64_t submitted{0};
        uint64_t delivered{0};
        uint64_t acked{0};
        int64_t rttInterval{-1}; //!< index of the interval last sampled
        double rttSumNs{0};
        uint32_t rttSamples{0};
    };

    void SubmitMessage(FlowId id, uint64_t bytes, uint64_t tag, bool isPut, Callback sent);
    void ReportRetransmission(FlowId id, uint32_t payloadBytes) const;
    FlowEvent MakeEvent(FlowId id) const;
    void AddRttStatistics(NetworkStatistics& statistics) const;
    void AddLinkStatistics(NetworkStatistics& statistics) const;

    std::vector<Flow> m_flows;
    uint64_t m_polls{0};
    bool m_isStarted{false}; //!< what connections measure before is not part of the run
};

} // namespace cosim

#endif // COSIM_PACKET_FABRIC_H
