/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/series-writer.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

/// Size of the text from which it goes to its sink [bytes].
constexpr std::size_t BLOCK_BYTES = 16 * 1024;

constexpr double PS_PER_NS = 1000;

/// @return the links that most paths cross, by id
std::vector<uint32_t>
FindCommonLinks(const Topology& topology, uint32_t count)
{
    std::vector<uint32_t> paths(topology.linkSource.size());
    for (const uint32_t link : topology.pathLinks)
    {
        ++paths[link];
    }
    std::vector<uint32_t> links(paths.size());
    std::iota(links.begin(), links.end(), 0);
    std::stable_sort(links.begin(), links.end(), [&paths](uint32_t a, uint32_t b) {
        return paths[a] > paths[b];
    });
    links.resize(std::min<std::size_t>(links.size(), count));
    std::sort(links.begin(), links.end());
    return links;
}

} // namespace

SeriesWriter::SeriesWriter(const Topology& topology,
                           const SeriesOptions& options,
                           TextSink links,
                           TextSink flows)
    : m_topology(topology),
      m_intervalPs(options.intervalPs),
      m_limitBytes(options.limitBytes),
      m_nextLimitBytes(options.limitBytes / 2),
      m_links(options.links),
      m_linkFile{CsvWriter("time_ns,link,source,target,throughput_bps,queue_bytes,drops,ecn_marks"),
                 std::move(links)},
      m_flowFile{CsvWriter("time_ns,source,target,path,goodput_bps,cwnd_bytes,rtt_ns"),
                 std::move(flows)}
{
    const auto linkCount = static_cast<uint32_t>(topology.linkSource.size());
    const auto pathCount = static_cast<uint32_t>(topology.pathSource.size());
    for (const uint32_t link : m_links)
    {
        if (link >= linkCount)
        {
            throw std::invalid_argument("the series samples link " + std::to_string(link) +
                                        ", but links are 0 … " + std::to_string(linkCount - 1));
        }
    }
    if (m_links.empty())
    {
        m_links = FindCommonLinks(topology, options.allLinks ? linkCount : options.linkCount);
    }
    const uint32_t flowCount =
        options.allFlows ? pathCount : std::min(options.flowCount, pathCount);
    for (uint64_t flow = 0; flow < flowCount; ++flow)
    {
        m_flows.push_back(static_cast<uint32_t>(flow * pathCount / flowCount));
    }
    m_linksBefore.resize(m_links.size());
    m_flowsBefore.resize(m_flows.size());
}

uint32_t
SeriesWriter::GetKinds() const
{
    return MESSAGES;
}

void
SeriesWriter::OnMessageSent(const MessageEvent& /* event */)
{
    ++m_messages;
    if (!m_isRunning)
    {
        m_isRunning = true;
        ScheduleNext();
    }
}

void
SeriesWriter::OnMessageDelivered(const MessageEvent& /* event */)
{
    --m_messages;
}

/// Schedule a sample at the next multiple of the interval.
void
SeriesWriter::ScheduleNext()
{
    const auto now = static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
    const uint64_t delay = m_intervalPs - now % m_intervalPs;
    ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(delay)), &SeriesWriter::Sample, this);
}

void
SeriesWriter::Sample()
{
    const auto now = static_cast<uint64_t>(m_fabric->SimGetTime().GetTimeStep());
    if (!HasRoom(m_linkFile, m_links.size()) || !HasRoom(m_flowFile, m_flows.size()))
    {
        return; // m_isRunning stays true, so that no message starts it again
    }
    SampleLinks(now);
    SampleFlows(now);
    m_sampledPs = now;
    m_isRunning = m_messages > 0; // otherwise the next message starts it again
    if (m_isRunning)
    {
        ScheduleNext();
    }
}

void
SeriesWriter::SampleLinks(uint64_t nowPs)
{
    const double elapsed = static_cast<double>(nowPs - m_sampledPs) / PS_PER_NS;
    const std::vector<LinkCounters> all = m_fabric->GetLinks();
    for (std::size_t i = 0; i < m_links.size(); ++i)
    {
        const uint32_t link = m_links[i];
        const LinkCounters& counters = all[link];
        const LinkCounters& before = m_linksBefore[i];
        const auto bits = 8e9 * static_cast<double>(counters.sentBytes - before.sentBytes);
        m_linkFile.csv.Double(static_cast<double>(nowPs) / PS_PER_NS)
            .Uint(link)
            .Uint(m_topology.linkSource[link])
            .Uint(m_topology.linkTarget[link])
            .Double(bits / elapsed)
            .Uint(counters.queuedBytes)
            .Uint(counters.drops - before.drops)
            .Uint(counters.marks - before.marks);
        m_linkFile.csv.EndLine();
        m_linksBefore[i] = counters;
    }
    Flush(m_linkFile);
}

void
SeriesWriter::SampleFlows(uint64_t nowPs)
{
    const double elapsed = static_cast<double>(nowPs - m_sampledPs) / PS_PER_NS;
    for (std::size_t i = 0; i < m_flows.size(); ++i)
    {
        const uint32_t flow = m_flows[i];
        const FlowState state = m_fabric->GetFlowState(flow);
        const auto bits = 8e9 * static_cast<double>(state.deliveredBytes - m_flowsBefore[i]);
        m_flowFile.csv.Double(static_cast<double>(nowPs) / PS_PER_NS)
            .Uint(m_topology.pathSource[flow])
            .Uint(m_topology.pathTarget[flow])
            .Uint(flow)
            .Double(bits / elapsed)
            .Uint(state.windowBytes)
            .Double(state.rttNs);
        m_flowFile.csv.EndLine();
        m_flowsBefore[i] = state.deliveredBytes;
    }
    Flush(m_flowFile);
}

/// @return true if a file has room for another sample
bool
SeriesWriter::HasRoom(File& file, std::size_t rows)
{
    constexpr uint64_t rowBytes = 128; // no row is longer
    return file.bytes + file.csv.GetSize() + rows * rowBytes <= m_limitBytes;
}

/// Hand a block to the sink, and sample less often when the file fills up.
void
SeriesWriter::Flush(File& file)
{
    if (file.csv.GetSize() >= BLOCK_BYTES)
    {
        file.bytes = file.sink(file.csv.Take());
    }
    if (file.bytes + file.csv.GetSize() >= m_nextLimitBytes)
    {
        m_nextLimitBytes += (m_limitBytes - m_nextLimitBytes) / 2;
        m_intervalPs *= 4;
    }
}

void
SeriesWriter::Finish()
{
    m_linkFile.sink(m_linkFile.csv.Take());
    m_flowFile.sink(m_flowFile.csv.Take());
}

} // namespace cosim
