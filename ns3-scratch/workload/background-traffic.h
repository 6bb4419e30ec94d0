/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BACKGROUND_TRAFFIC_H
#define COSIM_BACKGROUND_TRAFFIC_H

#include "network/fabric.h"
#include "network/run-observers.h"
#include "stream/stream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Messages that belong to no trace: they share the network with the workload.
 *
 * Poisson traffic sends messages of random sizes between random pairs, at exponentially distributed
 * distances. A burst sends a message of every pair at the same time, again and again. The same
 * stream gives the same messages on every fabric.
 *
 * A message that is on its way needs memory. Traffic that the network cannot carry would need more
 * and more of it, so the run fails when there are more than MOST_WAITING.
 */
class BackgroundTraffic
{
  public:
    /// Greatest number of messages that are on their way at the same time.
    static constexpr uint64_t MOST_WAITING = uint64_t{1} << 20;

    /**
     * @param topology supplies the traffic; must outlive this object
     * @param fabric carries the messages; must outlive this object
     * @param observers notified of the begin and the end of each traffic
     */
    BackgroundTraffic(const Topology& topology, Fabric& fabric, const RunObservers& observers);

    BackgroundTraffic(const BackgroundTraffic&) = delete;
    BackgroundTraffic& operator=(const BackgroundTraffic&) = delete;

    /// Begin to send. Call it at the start of the run.
    void Start();

  private:
    /// Marks the tags of these messages, so that no message of the workload has one of them.
    static constexpr uint64_t TAG = uint64_t{1} << 63;

    void ScheduleReport(uint64_t atPs, const std::string& text);
    void ScheduleNext(uint32_t source, uint64_t atPs);
    void OnTurn(uint32_t source);
    void Send(uint32_t source, std::size_t pair);
    void GiveUp(uint32_t source);
    uint64_t GetDistance(uint32_t source);
    uint64_t Draw(uint32_t source);

    const Topology& m_topology;
    Fabric& m_fabric;
    RunObservers m_observers;
    std::vector<uint64_t> m_draws; //!< per traffic: random numbers drawn so far
    uint64_t m_messages{0};
    uint64_t m_waiting{0}; //!< messages on their way
};

} // namespace cosim

#endif // COSIM_BACKGROUND_TRAFFIC_H
