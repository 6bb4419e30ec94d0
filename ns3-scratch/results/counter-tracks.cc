/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/counter-tracks.h"

#include "stream/node-name.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace cosim
{

namespace
{

/// Shortest time between two points of the counter of bytes in flight [ps].
constexpr uint64_t IN_FLIGHT_INTERVAL_PS = 100'000;

/// How much longer the interval becomes.
constexpr uint64_t GROWTH = 4;

/// @return the flows that have a counter: some of those that start at a shown rank
std::vector<uint32_t>
ChooseFlows(const Topology& topology, const TimelineOptions& options, const TimelineTracks& tracks)
{
    std::vector<uint32_t> shown;
    for (uint32_t path = 0; path < topology.pathSource.size(); ++path)
    {
        if (tracks.Shows(topology.pathSource[path]))
        {
            shown.push_back(path);
        }
    }
    return SpreadFlows(shown, options.counterFlows);
}

} // namespace

CounterTracks::CounterTracks(const Topology& topology,
                             const TimelineOptions& options,
                             TimelineTracks& tracks,
                             TraceText& text)
    : m_tracks(tracks),
      m_text(text),
      m_inFlight{TimelineTracks::NETWORK, "bytes in flight", false},
      m_intervalPs(options.counterPs),
      m_sampler(FindCommonLinks(topology, options.counterLinks),
                ChooseFlows(topology, options, tracks),
                options.counterPs,
                [this](const NetworkSample& sample) { return Write(sample); })
{
    for (const uint32_t link : m_sampler.GetLinks())
    {
        const std::string name = "link " + std::to_string(link) + ", " +
                                 NameNode(topology, topology.linkSource[link]) + " to " +
                                 NameNode(topology, topology.linkTarget[link]);
        m_utilizations.push_back({TimelineTracks::NETWORK, name + ": utilization", true});
        m_queues.push_back({TimelineTracks::NETWORK, name + ": queue", false});
    }
    for (const uint32_t path : m_sampler.GetFlows())
    {
        m_windows.push_back({topology.pathSource[path],
                             "cwnd to rank " + std::to_string(topology.pathTarget[path]) +
                                 ", path " + std::to_string(path),
                             false});
    }
}

/// @return the interval to the next sample [ps]
uint64_t
CounterTracks::Write(const NetworkSample& sample)
{
    for (std::size_t i = 0; i < sample.links.size(); ++i)
    {
        const LinkSample& link = sample.links[i];
        const double utilization =
            link.rateBps == 0 ? 0 : link.throughputBps / static_cast<double>(link.rateBps);
        // The utilization of an interval is shown from its start.
        Set(m_utilizations[i],
            sample.sincePs,
            static_cast<uint64_t>(std::lround(100 * std::min(utilization, 1.0))));
        if (sample.isIdle)
        {
            Set(m_utilizations[i], sample.nowPs, 0);
        }
        Set(m_queues[i], sample.nowPs, link.queuedBytes);
    }
    for (std::size_t i = 0; i < sample.flows.size(); ++i)
    {
        Set(m_windows[i], sample.nowPs, sample.flows[i].windowBytes);
    }
    if (++m_samples == SAMPLES)
    {
        m_samples = 0;
        m_intervalPs *= GROWTH;
    }
    return m_intervalPs;
}

void
CounterTracks::OnStepSent(const StepMessageEvent& event)
{
    m_inFlightBytes += event.bytes;
    WriteInFlight(event.timePs);
}

void
CounterTracks::OnStepReceived(const StepMessageEvent& event)
{
    m_inFlightBytes -= event.bytes;
    WriteInFlight(event.timePs);
}

void
CounterTracks::WriteInFlight(uint64_t timePs)
{
    if (m_inFlightBytes == 0 || m_inFlightWrittenPs == 0 ||
        timePs >= m_inFlightWrittenPs + IN_FLIGHT_INTERVAL_PS)
    {
        m_inFlightWrittenPs = timePs;
        Set(m_inFlight, timePs, m_inFlightBytes);
    }
}

/// Write the value of a counter if it differs from the one before.
void
CounterTracks::Set(Counter& counter, uint64_t timePs, uint64_t value)
{
    if (counter.value == value || !m_tracks.Accepts(timePs))
    {
        return;
    }
    counter.value = value;
    if (counter.process != TimelineTracks::NETWORK)
    {
        m_tracks.Use(counter.process);
    }
    TraceEvent line = m_text.Begin('C', counter.process, 0, timePs);
    line.Text("name", counter.name).Arguments();
    (counter.isShare ? line.Uint("percent", value) : line.Uint("bytes", value)).End();
}

} // namespace cosim
