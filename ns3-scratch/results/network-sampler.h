/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_SAMPLER_H
#define COSIM_NETWORK_SAMPLER_H

#include "network/fabric.h"
#include "network/run-observer.h"
#include "stream/stream.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace cosim
{

/// What a link did since the sample before.
struct LinkSample
{
    uint32_t link;
    double throughputBps;
    uint64_t rateBps;     //!< of the link now
    uint64_t queuedBytes; //!< in its egress queue now
    uint64_t drops;
    uint64_t marks;
    uint64_t pausedPs; //!< time that its port was paused
};

/// What a flow did since the sample before.
struct FlowSample
{
    uint32_t path;
    double goodputBps;
    uint64_t windowBytes; //!< congestion window now
    double rttNs;         //!< latest round trip
    double rateBps;       //!< rate of a queue pair now
};

/// A sample of links and flows.
struct NetworkSample
{
    uint64_t sincePs; //!< time of the sample before [ps]
    uint64_t nowPs;
    bool isIdle; //!< true if no message is on its way, so there is no next sample until there is
    std::vector<LinkSample> links;
    std::vector<FlowSample> flows;
};

/**
 * Samples links and flows at multiples of an interval, while messages are on their way. A sample
 * only reads, so it does not change the run.
 */
class NetworkSampler : public RunObserver
{
  public:
    /**
     * Receives a sample.
     *
     * @return the interval to the next sample [ps]; 0 if there are no further ones
     */
    using Sink = std::function<uint64_t(const NetworkSample&)>;

    /**
     * @param links the links to sample
     * @param flows the paths of the flows to sample
     * @param intervalPs time between samples at first [ps]
     * @param sink receives the samples
     */
    NetworkSampler(std::vector<uint32_t> links,
                   std::vector<uint32_t> flows,
                   uint64_t intervalPs,
                   Sink sink);

    /// @param fabric the fabric of the run; must outlive the run
    void SetFabric(const Fabric* fabric)
    {
        m_fabric = fabric;
    }

    /// @return the sampled links, in the order of the samples
    const std::vector<uint32_t>& GetLinks() const
    {
        return m_links;
    }

    /// @return the paths of the sampled flows, in the order of the samples
    const std::vector<uint32_t>& GetFlows() const
    {
        return m_flows;
    }

    uint32_t GetKinds() const override
    {
        return MESSAGES;
    }

    void OnMessageSent(const MessageEvent& event) override;
    void OnMessageDelivered(const MessageEvent& event) override;

  private:
    void ScheduleNext();
    void Sample();
    void SampleLinks(double elapsedNs);
    void SampleFlows(double elapsedNs);

    const Fabric* m_fabric{nullptr};
    std::vector<uint32_t> m_links;
    std::vector<uint32_t> m_flows;
    uint64_t m_intervalPs;
    Sink m_sink;
    NetworkSample m_sample;                  //!< the latest one
    std::vector<LinkCounters> m_linksBefore; //!< counters at the latest sample
    std::vector<uint64_t> m_flowsBefore;     //!< delivered bytes at the latest sample
    uint64_t m_messages{0};                  //!< messages on their way
    bool m_isRunning{false};                 //!< true while a sample is scheduled
};

/// @return the links that most paths cross, by id
std::vector<uint32_t> FindCommonLinks(const Topology& topology, uint32_t count);

/// @return some of the flows, spread evenly over them
std::vector<uint32_t> SpreadFlows(const std::vector<uint32_t>& flows, uint32_t count);

} // namespace cosim

#endif // COSIM_NETWORK_SAMPLER_H
