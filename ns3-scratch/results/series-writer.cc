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

constexpr double PS_PER_NS = 1000;

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
      m_linkFile{CsvWriter("time_ns,link,source,target,throughput_bps,queue_bytes,drops,ecn_marks"),
                 std::move(links)},
      m_flowFile{CsvWriter("time_ns,source,target,path,goodput_bps,cwnd_bytes,rtt_ns"),
                 std::move(flows)},
      m_sampler(ChooseLinks(topology, options),
                ChooseFlows(topology, options),
                options.intervalPs,
                [this](const NetworkSample& sample) { return Write(sample); })
{
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
    WriteFlows(sample);
    return m_intervalPs;
}

void
SeriesWriter::WriteLinks(const NetworkSample& sample)
{
    for (const LinkSample& link : sample.links)
    {
        m_linkFile.csv.Double(static_cast<double>(sample.nowPs) / PS_PER_NS)
            .Uint(link.link)
            .Uint(m_topology.linkSource[link.link])
            .Uint(m_topology.linkTarget[link.link])
            .Double(link.throughputBps)
            .Uint(link.queuedBytes)
            .Uint(link.drops)
            .Uint(link.marks);
        m_linkFile.csv.EndLine();
    }
    Flush(m_linkFile);
}

void
SeriesWriter::WriteFlows(const NetworkSample& sample)
{
    for (const FlowSample& flow : sample.flows)
    {
        m_flowFile.csv.Double(static_cast<double>(sample.nowPs) / PS_PER_NS)
            .Uint(m_topology.pathSource[flow.path])
            .Uint(m_topology.pathTarget[flow.path])
            .Uint(flow.path)
            .Double(flow.goodputBps)
            .Uint(flow.windowBytes)
            .Double(flow.rttNs);
        m_flowFile.csv.EndLine();
    }
    Flush(m_flowFile);
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
