/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HOST_FABRIC_H
#define COSIM_HOST_FABRIC_H

#include "network/fabric.h"
#include "network/message-matcher.h"
#include "stream/stream.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Adds what the ranks themselves do for a message to another fabric.
 *
 * A message is divided evenly among the flows between two ranks. Each rank has, for each of these
 * flows, a processor that sends and one that receives. A processor handles one part after another,
 * in the order in which they come, and takes a constant time for each and a time for its bytes. A
 * part enters the network when its sending processor has handled it. The message arrives when the
 * receiving processors have handled all of its parts. Every flow keeps the order of its parts, so
 * the messages between two ranks on one route arrive in the order in which they were sent.
 *
 * The counters of the fabric count parts as messages, without the time of the processors.
 */
class HostFabric : public Fabric
{
  public:
    /**
     * @param fabric carries the messages between the processors
     * @param topology which endpoints are ranks
     * @param settings costs and number of flows
     */
    HostFabric(std::unique_ptr<Fabric> fabric,
               const Topology& topology,
               const SystemSettings& settings);

    // NetworkApi
    void SimSend(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route, Callback sent)
        override;
    void SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received) override;
    void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) override;
    void SetArrivalHandler(ArrivalHandler* handler) override;
    void SimSchedule(ns3::Time delay, Callback callback) override;
    ns3::Time SimGetTime() const override;
    uint32_t SimCommSize() const override;
    void SimFinish() override;

    // Fabric
    void Start() override;
    void Finish() override;
    NetworkStatistics GetStatistics() const override;
    const LiveLinks& GetLiveLinks() const override;
    std::vector<LinkCounters> GetLinks() const override;
    LinkCounters GetLink(uint32_t link) const override;
    uint64_t GetElapsed() const override;
    const FlowCounters& GetFlow(uint32_t path) const override;
    FlowState GetFlowState(uint32_t path) const override;
    uint64_t GetCompletionQuantilePs(double q) const override;
    uint64_t GetDeliveredBytes() const override;
    uint64_t GetSentPackets() const override;
    LinkControl* GetLinkControl() override;
    std::string GetFailure() const override;
    void Abandon(uint32_t path) override;
    void Fail(const std::string& failure) override;
    void SetObservers(const RunObservers& observers) override;

  private:
    /// A message that has not arrived, or whose last byte is not acknowledged.
    struct Message
    {
        Rank src;
        Rank dst;
        uint32_t route;
        uint64_t bytes;
        uint64_t tag;
        bool isPut;         //!< true if the message goes to the ArrivalHandler
        uint32_t partsLeft; //!< parts that have not arrived
        uint32_t acksLeft;  //!< parts that are not acknowledged, and 1 until the message arrives
        Callback sent;
    };

    /// A part of a message.
    struct Part
    {
        uint32_t message; //!< id of the message
        uint32_t flow;    //!< the flow that carries the part, from 0
    };

    using Step = void (HostFabric::*)(Part);

    /// The processors at one end of all flows.
    struct Processors
    {
        HostCost cost;
        std::vector<uint64_t> free; //!< by rank and flow: when the processor is free [ps]
    };

    void Accept(Message message);
    void Enter(Part part);
    void OnPart(Part part);
    void OnReceived(Part part);
    void OnAcked(uint32_t id);
    uint64_t GetBytes(Part part) const;
    void Process(Processors& processors, Rank rank, Part part, Step next);

    std::unique_ptr<Fabric> m_fabric;
    uint32_t m_flows; //!< flows that share a message
    uint32_t m_ranks; //!< other endpoints are switches, where messages cost nothing
    Processors m_sending;
    Processors m_receiving;
    SlotPool<Message> m_messages;
    MessageMatcher m_matcher;
    ArrivalHandler* m_handler{nullptr}; //!< not owned
};

} // namespace cosim

#endif // COSIM_HOST_FABRIC_H
