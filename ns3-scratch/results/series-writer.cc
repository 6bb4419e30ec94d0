/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/series-writer.h"

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

/// @return the links to sample
std::vector<uint32_t>
ChooseLinks(const Topology& topology, const SeriesOptions& options)
{
    const auto linkCount = static_cast<uint32_t>(topology.linkSource.size());
    for (const uint32_t link : options.links)
    {
        if (link >= linkCount)
        {
            throw std::invalid_argument("the series samples link " + std::to_string(link) +
                                        ", but links are 0 … " + std::to_string(linkCount - 1));
        }
    }
    return options.links.empty()
               ? FindCommonLinks(topology, options.allLinks ? linkCount : options.linkCount)
               : options.links;
}

/// @return the paths of the flows to sample
std::vector<uint32_t>
ChooseFlows(const Topology& topology, const SeriesOptions& options)
{
    std::vector<uint32_t> paths(topology.pathSource.size());
    std::iota(paths.begin(), paths.end(), 0);
    return options.allFlows ? paths : SpreadFlows(paths, options.flowCount);
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
      m_linkFile{{}, std::move(links)},
      m_flowFile{{}, std::move(flows)},
      m_sampler(ChooseLinks(topology, options),
                ChooseFlows(topology, options),
                options.intervalPs,
                [this](const NetworkSample& sample) { return Write(sample); })
{
    WriteLinks({}); // only the names of the columns
    WriteFlows({});
}

/// @return the interval to the next sample; 0 if a file is full [ps]
uint64_t
SeriesWriter::Write(const NetworkSample& sample)
{
    if (!HasRoom(m_linkFile, sample.links.size()) || !HasRoom(m_flowFile, sample.flows.size()))
    {
        return 0;
    }
    WriteLinks(sample);
    Flush(m_linkFile);
    WriteFlows(sample);
    Flush(m_flowFile);
    return m_intervalPs;
}

void
SeriesWriter::WriteLinks(const NetworkSample& sample)
{
    m_linkFile.csv.Rows(
        sample.links,
        Field{"time_ns", [&](const LinkSample&) { return sample.nowPs; }},
        Field{"link", &LinkSample::link},
        Field{"source", [&](const LinkSample& link) { return m_topology.linkSource[link.link]; }},
        Field{"target", [&](const LinkSample& link) { return m_topology.linkTarget[link.link]; }},
        Field{"throughput_bps", &LinkSample::throughputBps},
        Field{"queue_bytes", &LinkSample::queuedBytes},
        Field{"drops", &LinkSample::drops},
        Field{"ecn_marks", &LinkSample::marks},
        Field{"paused_ns", &LinkSample::pausedPs});
}

void
SeriesWriter::WriteFlows(const NetworkSample& sample)
{
    m_flowFile.csv.Rows(
        sample.flows,
        Field{"time_ns", [&](const FlowSample&) { return sample.nowPs; }},
        Field{"source", [&](const FlowSample& flow) { return m_topology.pathSource[flow.path]; }},
        Field{"target", [&](const FlowSample& flow) { return m_topology.pathTarget[flow.path]; }},
        Field{"path", &FlowSample::path},
        Field{"goodput_bps", &FlowSample::goodputBps},
        Field{"cwnd_bytes", &FlowSample::windowBytes},
        Field{"rtt_ns", &FlowSample::rttNs},
        Field{"rate_bps", &FlowSample::rateBps});
}

/// @return true if a file has room for another sample
bool
SeriesWriter::HasRoom(const File& file, std::size_t rows) const
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
