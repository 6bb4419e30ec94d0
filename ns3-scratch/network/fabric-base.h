/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_BASE_H
#define COSIM_FABRIC_BASE_H

#include "network/fabric.h"
#include "network/flow-record.h"
#include "network/live-links.h"
#include "network/message-matcher.h"
#include "network/path-index.h"
#include "network/transport-facts.h"
#include "support/histogram.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <string>

namespace cosim
{

/**
 * Base class with the parts that all fabrics share.
 *
 * It holds the clock, the matching of sends with receives, the table of the pairs of ranks that
 * have a path, the observers, and the message counters. A derived class adds the way in which
 * messages are carried.
 */
class FabricBase : public Fabric
{
  public:
    /**
     * @param topology links and paths; must outlive the fabric
     * @param settings run settings; must outlive the fabric
     */
    FabricBase(const Topology& topology, const Settings& settings);

    // NetworkApi
    void SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received) override;
    void SetArrivalHandler(ArrivalHandler* handler) override;
    void SimSchedule(ns3::Time delay, Callback callback) override;
    ns3::Time SimGetTime() const override;
    uint32_t SimCommSize() const override;
    void SimFinish() override;

    // Fabric
    void Finish() override;
    const LiveLinks& GetLiveLinks() const override;
    uint64_t GetElapsed() const override;
    uint64_t GetDeliveredBytes() const override;
    std::string GetFailure() const override;
    void Fail(const std::string& failure) override;
    const FlowCounters& GetFlow(uint32_t path) const override;
    FlowState GetFlowState(uint32_t path) const override;
    uint64_t GetCompletionQuantilePs(double q) const override;
    void SetObservers(const RunObservers& observers) override;

  protected:
    /// Start the clock of the run: SimGetTime counts from now. Call it when the network is ready.
    void StartClock();

    /// @return the time since StartClock [ps]
    int64_t NowPs() const
    {
        return ns3::Simulator::Now().GetTimeStep() - m_startPs;
    }

    /// @return the time from StartClock to Finish, or to now if the run has not finished [ps]
    int64_t GetElapsedPs() const;

    /**
     * Report to the observers that a message is handed to the fabric now.
     *
     * @param path index of the message's path
     * @param bytes message size [bytes]
     * @param tag message tag
     */
    void ReportSent(uint32_t path, uint64_t bytes, uint64_t tag) const
    {
        if (!m_observers[RunObserver::MESSAGES].empty())
        {
            Report(&RunObserver::OnMessageSent, static_cast<uint64_t>(NowPs()), path, bytes, tag);
        }
    }

    /**
     * Report a message event to the observers.
     *
     * @param what the observer method to call
     * @param timePs time of the event, on the clock of NowPs [ps]
     * @param path index of the message's path
     * @param bytes message size [bytes]
     * @param tag message tag
     */
    void Report(void (RunObserver::*what)(const MessageEvent&),
                uint64_t timePs,
                uint32_t path,
                uint64_t bytes,
                uint64_t tag) const;

    /**
     * Count an arrived message, report it to the observers, and hand it to its receiver.
     *
     * @param path index of the message's path
     * @param bytes message size [bytes]
     * @param tag message tag
     * @param isPut true if the message goes to the ArrivalHandler, false if a receive matches it
     * @param sentPs time at which the message was handed to the fabric, on the clock of NowPs [ps]
     */
    void Deliver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, int64_t sentPs);

    /**
     * Hand an arrived message to its receiver.
     *
     * @param path index of the message's path
     * @param bytes message size [bytes]
     * @param tag message tag
     * @param isPut true if the message goes to the ArrivalHandler, false if a receive matches it
     */
    void HandOver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut);

    /// @return the message counters and the statistics of the flow completion times
    NetworkStatistics GetMessageStatistics() const;

    const Topology& m_topology; //!< links and paths at the start of the run
    const Settings& m_settings;
    const PacketFormats m_formats; //!< sizes of the packets
    const PathIndex m_pathIndex;
    LiveLinks m_liveLinks;
    NetworkStatistics m_counters;
    FlowRecord m_flowRecord;
    Histogram m_completionPs; //!< flow completion times of the messages [ps]
    RunObservers m_observers;

  private:
    MessageMatcher m_matcher;
    ArrivalHandler* m_arrivalHandler{nullptr}; //!< not owned
    int64_t m_startPs{0};
    int64_t m_finishPs{-1}; //!< -1 until Finish is called
    std::string m_failure;
};

} // namespace cosim

#endif // COSIM_FABRIC_BASE_H
