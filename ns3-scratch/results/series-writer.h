/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SERIES_WRITER_H
#define COSIM_SERIES_WRITER_H

#include "network/fabric.h"
#include "network/run-observer.h"
#include "results/csv-writer.h"
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
 * Samples links and flows at multiples of an interval, while messages are on their way.
 *
 * A sample only reads, so it does not change the run. When a file has used half of its limit, the
 * interval becomes four times as long, and again whenever half of the rest is used. Sampling ends
 * when a file has no room for another sample.
 */
class SeriesWriter : public RunObserver
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

    /// @param fabric the fabric of the run; must outlive the run
    void SetFabric(const Fabric* fabric)
    {
        m_fabric = fabric;
    }

    /// Write what is left. Call it at the end of the run, while the fabric exists.
    void Finish();

    uint32_t GetKinds() const override;
    void OnMessageSent(const MessageEvent& event) override;
    void OnMessageDelivered(const MessageEvent& event) override;

  private:
    /// A file and how much of it is used.
    struct File
    {
        CsvWriter csv;
        TextSink sink;
        uint64_t bytes{0}; //!< size of the file, without what the writer still holds
    };

    void ScheduleNext();
    void Sample();
    void SampleLinks(uint64_t nowPs);
    void SampleFlows(uint64_t nowPs);
    bool HasRoom(File& file, std::size_t rows);
    void Flush(File& file);

    const Topology& m_topology;
    const Fabric* m_fabric{nullptr};
    uint64_t m_intervalPs;
    uint64_t m_limitBytes;
    uint64_t m_nextLimitBytes; //!< size of a file from which the interval doubles
    std::vector<uint32_t> m_links;
    std::vector<uint32_t> m_flows;
    std::vector<LinkCounters> m_linksBefore; //!< counters at the latest sample
    std::vector<uint64_t> m_flowsBefore;     //!< delivered bytes at the latest sample
    uint64_t m_sampledPs{0};                 //!< time of the latest sample
    uint64_t m_messages{0};                  //!< messages on their way
    bool m_isRunning{false};                 //!< true while a sample is scheduled
    File m_linkFile;
    File m_flowFile;
};

} // namespace cosim

#endif // COSIM_SERIES_WRITER_H
