/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_COUNTER_TRACKS_H
#define COSIM_COUNTER_TRACKS_H

#include "network/run-observer.h"
#include "results/network-sampler.h"
#include "results/timeline-tracks.h"
#include "results/trace-text.h"
#include "stream/stream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * The counters in a timeline: bytes in flight, utilization and queue of links, and congestion
 * windows of flows.
 *
 * When SAMPLES samples were taken, the interval becomes four times as long, and again after as
 * many. So the number of samples grows with the logarithm of the length of a run.
 */
class CounterTracks : public RunObserver
{
  public:
    /// Number of samples after which the interval grows.
    static constexpr uint32_t SAMPLES = 1000;

    /**
     * @param topology links and paths; must outlive this object
     * @param options how many links and flows have counters
     * @param tracks the tracks of the ranks; must outlive this object
     * @param text receives the events; must outlive this object
     */
    CounterTracks(const Topology& topology,
                  const TimelineOptions& options,
                  TimelineTracks& tracks,
                  TraceText& text);

    /// @return true if links and flows are sampled
    bool IsSampled() const
    {
        return m_intervalPs != 0;
    }

    /// @return the observer that takes the samples of links and flows
    NetworkSampler& GetSampler()
    {
        return m_sampler;
    }

    uint32_t GetKinds() const override
    {
        return STEPS;
    }

    void OnStepSent(const StepMessageEvent& event) override;
    void OnStepReceived(const StepMessageEvent& event) override;

  private:
    /// A counter of a process, and its latest value in the file.
    struct Counter
    {
        uint32_t process;
        std::string name;
        bool isShare; //!< its values are percent instead of bytes
        uint64_t value{0};
    };

    uint64_t Write(const NetworkSample& sample);
    void WriteInFlight(uint64_t timePs);
    void Set(Counter& counter, uint64_t timePs, uint64_t value);

    TimelineTracks& m_tracks;
    TraceText& m_text;
    std::vector<Counter> m_utilizations; //!< per sampled link
    std::vector<Counter> m_queues;       //!< per sampled link
    std::vector<Counter> m_windows;      //!< per sampled flow
    Counter m_inFlight;
    uint64_t m_inFlightBytes{0};
    uint64_t m_inFlightWrittenPs{0};
    uint64_t m_intervalPs;
    uint32_t m_samples{0}; //!< with this interval
    NetworkSampler m_sampler;
};

} // namespace cosim

#endif // COSIM_COUNTER_TRACKS_H
