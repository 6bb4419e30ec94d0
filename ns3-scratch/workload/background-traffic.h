/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BACKGROUND_TRAFFIC_H
#define COSIM_BACKGROUND_TRAFFIC_H

#include "network/network-api.h"
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
 */
class BackgroundTraffic
{
  public:
    /**
     * @param topology supplies the traffic; must outlive this object
     * @param network carries the messages; must outlive this object
     * @param observers notified of the begin and the end of each traffic
     */
    BackgroundTraffic(const Topology& topology, NetworkApi& network, const RunObservers& observers);

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
    uint64_t GetDistance(uint32_t source);
    uint64_t Draw(uint32_t source);

    const Topology& m_topology;
    NetworkApi& m_network;
    RunObservers m_observers;
    std::vector<uint64_t> m_draws; //!< per traffic: random numbers drawn so far
    uint64_t m_messages{0};
};

} // namespace cosim

#endif // COSIM_BACKGROUND_TRAFFIC_H
