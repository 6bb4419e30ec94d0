/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_FABRIC_H
#define COSIM_ANALYTICAL_FABRIC_H

#include "fabric.h"
#include "histogram.h"
#include "message-matcher.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * An estimate without packets: every message crosses the links of its path as one piece.
 *
 * A link carries one message at a time, first come first served. A message of P payload bytes in
 * segments of at most M bytes is W = P + ceil(P/M)·h bytes on the wire, where h are the IPv4 and
 * TCP headers (with 12 bytes of options if timestamps are on) and the link header. On a link of
 * rate r that was free until b, a message whose first packet (of size f) arrives at time t
 *
 *   starts at s = max(t, b), is carried until e = max(s + W/r, e' + l' + g/r) and is at the next
 *   node with its first packet at s + f/r + l and with its last byte at e + l,
 *
 * where l is the link's latency, e' and l' are those of the link before, and g is the size of its
 * last packet: a switch stores and forwards packets, so a message follows its first packet (cut
 * through), and a link cannot end before its last packet has come. There is no loss, no window and
 * no acknowledgement but that SimSend's `sent` waits for the way back.
 */
class AnalyticalFabric : public Fabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings its TCP settings give the sizes of segments and headers; must outlive it
     */
    AnalyticalFabric(const Topology& topology, const Settings& settings);

    void Start() override;
    void Finish() override;
    NetworkStatistics GetStatistics() const override;
    uint64_t GetDeliveredBytes() const override;
    std::string GetFailure() const override;
    void SetPollHook(PollHook hook) override;

    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback sent) override;
    void SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received) override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag) override;
    void SetArrivalHandler(ArrivalHandler* handler) override;
    void SimSchedule(ns3::Time delay, Callback callback) override;
    ns3::Time SimGetTime() const override;
    uint32_t SimCommSize() const override;
    void SimFinish() override;

  private:
    /// A message under way. Slots of this kind are used again.
    struct Message
    {
        Rank src;
        Rank dst;
        uint64_t bytes;
        uint64_t tag;
        uint32_t path;
        uint32_t hop;        //!< the next link, into Topology::pathLinks
        uint64_t wireBytes;  //!< W
        uint64_t firstBytes; //!< f
        uint64_t lastBytes;  //!< g
        uint64_t lastAt;     //!< when its last byte is at the present node [ps]
        uint64_t sentAt;     //!< when it was handed to the fabric [ps]
        bool isPut;          //!< goes to the arrival handler
        Callback sent;
    };

    /// What a link did.
    struct Link
    {
        uint64_t freeAt{0}; //!< [ps]
        uint64_t busy{0};   //!< carrying messages [ps]
        uint64_t wireBytes{0};
        uint64_t maxQueueBytes{0};
    };

    uint32_t FindPath(Rank src, Rank dst) const;
    void Submit(Message message);
    void Cross(uint32_t id);
    void Deliver(uint32_t id);
    uint64_t TransmissionPs(uint64_t bytes, uint32_t link) const;
    uint64_t ForwardingPs(const Message& message) const;
    uint64_t AcknowledgementPs(Rank src, Rank dst) const;
    uint64_t Now() const;

    const Topology& m_topology;
    const Settings& m_settings;
    uint32_t m_headerBytes;                          //!< per packet, link header included
    std::unordered_map<uint64_t, uint32_t> m_pathOf; //!< by (source, target)
    std::vector<Link> m_links;
    std::vector<Message> m_messages;
    std::vector<uint32_t> m_freeMessages;
    std::vector<bool> m_usedPaths; //!< that carried a message
    MessageMatcher m_matcher;
    ArrivalHandler* m_handler{nullptr};
    PollHook m_poll;
    ns3::Time m_start;
    ns3::Time m_finish{-1}; //!< negative until Finish
    NetworkStatistics m_statistics;
    Histogram m_completion; //!< flow completion times [ps]
    std::string m_failure;
};

/**
 * @param topology links and paths; must outlive the fabric
 * @param settings its settings; must outlive the fabric
 * @return an AnalyticalFabric
 */
std::unique_ptr<Fabric> MakeAnalyticalFabric(const Topology& topology, const Settings& settings);

} // namespace cosim

#endif // COSIM_ANALYTICAL_FABRIC_H
