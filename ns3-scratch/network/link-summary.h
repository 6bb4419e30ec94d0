/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_SUMMARY_H
#define COSIM_LINK_SUMMARY_H

#include "network/network-statistics.h"
#include "stream/stream.h"

#include <cstdint>

namespace cosim
{

/// What a link did since the start.
struct LinkCounters
{
    int64_t busyPs{0};
    uint64_t wireBytes{0};
    uint64_t drops{0};
    uint64_t marks{0};
    uint64_t maxQueueBytes{0};
};

/// Sums the counters of all links up, for the statistics of links and dimensions.
class LinkSummary
{
  public:
    /**
     * @param topology names the dimensions
     * @param elapsedPs the time that busy times are shares of [ps]; 0: no link is utilized
     * @param statistics where the result goes; must outlive the summary
     */
    LinkSummary(const Topology& topology, int64_t elapsedPs, NetworkStatistics& statistics);

    /**
     * Add a link.
     *
     * @param dimension its dimension
     * @param counters what it did
     */
    void Add(uint32_t dimension, const LinkCounters& counters);

    /// All links were added.
    void Finish();

  private:
    double m_elapsedPs;
    NetworkStatistics& m_statistics;
    uint64_t m_usedLinks{0};
    double m_utilizationSum{0}; //!< of the used links
};

} // namespace cosim

#endif // COSIM_LINK_SUMMARY_H
