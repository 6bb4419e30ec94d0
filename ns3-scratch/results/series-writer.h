/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SERIES_WRITER_H
#define COSIM_SERIES_WRITER_H

#include "results/csv-writer.h"
#include "results/network-sampler.h"
#include "results/text-sink.h"
#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// What a time series samples.
struct SeriesOptions
{
    uint64_t intervalPs{0}; //!< time between samples [ps]
    uint64_t limitBytes{0}; //!< largest size of each file [bytes]
    bool allLinks{false};
    uint32_t linkCount{0};       //!< number of links, those which most paths cross
    std::vector<uint32_t> links; //!< instead of linkCount
    bool allFlows{false};
    uint32_t flowCount{0}; //!< number of flows, spread evenly over all paths
};

/**
 * Writes samples of links and flows as tables.
 *
 * When a file has used half of its limit, the interval becomes four times as long, and again
 * whenever half of the rest is used. Sampling ends when a file has no room for another sample.
 */
class SeriesWriter
{
  public:
    /**
     * @param topology links and paths; must outlive this object
     * @param options what to sample
     * @param links receives the rows of links
     * @param flows receives the rows of flows
     * @throws std::invalid_argument if a link does not exist
     */
    SeriesWriter(const Topology& topology,
                 const SeriesOptions& options,
                 TextSink links,
                 TextSink flows);

    /// @return the observer that takes the samples
    NetworkSampler& GetSampler()
    {
        return m_sampler;
    }

    /// Write what is left. Call it at the end of the run.
    void Finish();

  private:
    /// A file and how much of it is used.
    struct File
    {
        CsvWriter csv;
        TextSink sink;
        uint64_t bytes{0}; //!< size of the file, without what the writer still holds
    };

    uint64_t Write(const NetworkSample& sample);
    void WriteLinks(const NetworkSample& sample);
    void WriteFlows(const NetworkSample& sample);
    bool HasRoom(const File& file, std::size_t rows) const;
    void Flush(File& file);

    const Topology& m_topology;
    uint64_t m_intervalPs;
    uint64_t m_limitBytes;
    uint64_t m_nextLimitBytes; //!< size of a file from which the interval grows
    File m_linkFile;
    File m_flowFile;
    NetworkSampler m_sampler;
};

} // namespace cosim

#endif // COSIM_SERIES_WRITER_H
