/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FABRIC_BASE_H
#define COSIM_FABRIC_BASE_H

#include "network/fabric.h"
#include "network/live-links.h"
#include "network/message-matcher.h"
#include "support/histogram.h"
#include "support/pair-index.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstdint>
#include <string>

namespace cosim
{

/**
 * What does not depend on how a fabric carries messages: the clock, the receiving side, which
 * pairs of ranks have a path, and the counters of messages.
 */
class FabricBase : public Fabric
{
  public:
    /**
     * @param topology links and paths; outlives the fabric
     * @param settings the settings; outlive the fabric
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
    uint64_t GetDeliveredBytes() const override;
    std::string GetFailure() const override;
    void SetObservers(const RunObservers& observers) override;
    void SetPollHook(PollHook hook) override;

  protected:
    /// The network is ready: SimGetTime counts from now.
    void StartClock();

    /// @return the time since the fabric was ready [ps]
    int64_t NowPs() const
    {
        return ns3::Simulator::Now().GetTimeStep() - m_startPs;
    }

    /// @return the time from the start to Finish, or to now [ps]
    int64_t GetElapsedPs() const;

    /**
     * @param src the sending rank
     * @param dst the receiving rank
     * @param route which of their paths
     * @return the index of the path
     * @throws std::invalid_argument if a rank does not exist or the topology has no path for them
     */
    uint32_t FindPath(Rank src, Rank dst, uint32_t route = 0) const
    {
        const uint32_t ranks = m_topology.ranks;
        const uint32_t path =
            src < ranks && dst < ranks ? m_pathOf.Find(src, dst) : PairIndex::NONE;
        if (path == PairIndex::NONE)
        {
            RefusePair(src, dst);
        }
        return path + route; // the validators know that there are as many
    }

    /**
     * @param path the index of a path
     * @return which of the paths of its two ranks it is
     */
    uint32_t GetRoute(uint32_t path) const;

    /**
     * Tell the observers of a message that is handed over.
     *
     * @param path the index of its path
     * @param bytes its size [bytes]
     * @param tag its tag
     */
    void ReportSent(uint32_t path, uint64_t bytes, uint64_t tag) const
    {
        if (!m_observers[RunObserver::MESSAGES].empty())
        {
            Report(&RunObserver::OnMessageSent, static_cast<uint64_t>(NowPs()), path, bytes, tag);
        }
    }

    /**
     * Tell the observers of a message.
     *
     * @param what happens to it
     * @param timePs when, as NowPs [ps]
     * @param path the index of its path
     * @param bytes its size [bytes]
     * @param tag its tag
     */
    void Report(void (RunObserver::*what)(const MessageEvent&),
                uint64_t timePs,
                uint32_t path,
                uint64_t bytes,
                uint64_t tag) const;

    /**
     * Count a message that has arrived, and hand it to its receiver.
     *
     * @param path the index of its path
     * @param bytes its size [bytes]
     * @param tag its tag
     * @param isPut whether it goes to the ArrivalHandler, or to a receive
     * @param sentPs when it was handed to the fabric, as NowPs [ps]
     */
    void Deliver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut, int64_t sentPs);

    /**
     * Hand a message that has arrived to its receiver.
     *
     * @param path the index of its path
     * @param bytes its size [bytes]
     * @param tag its tag
     * @param isPut whether it goes to the ArrivalHandler, or to a receive
     */
    void HandOver(uint32_t path, uint64_t bytes, uint64_t tag, bool isPut);

    /**
     * Stop the simulator: the run cannot go on.
     *
     * @param failure what GetFailure says from now on
     */
    void Fail(const std::string& failure);

    /// @return the counters, with the completion times of the messages
    NetworkStatistics GetMessageStatistics() const;

    const Topology& m_topology; //!< as the run starts
    const Settings& m_settings;
    LiveLinks m_liveLinks;
    NetworkStatistics m_counters;
    Histogram m_completionPs; //!< of messages
    RunObservers m_observers;
    PollHook m_pollHook;

  private:
    [[noreturn]] void RefusePair(Rank src, Rank dst) const;

    PairIndex m_pathOf;
    MessageMatcher m_matcher;
    ArrivalHandler* m_arrivalHandler{nullptr}; //!< not owned
    int64_t m_startPs{0};
    int64_t m_finishPs{-1}; //!< -1: not finished
    std::string m_failure;
};

} // namespace cosim

#endif // COSIM_FABRIC_BASE_H
