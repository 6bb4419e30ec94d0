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

/// Makes of the counters of all links what the statistics say of links and dimensions.
class LinkSummary
{
  public:
    /**
     * @param topology the links and their dimensions; must outlive the summary
     * @param elapsedPs what busy times relate to [ps]; 0: no link is utilized
     * @param statistics where the result goes; must outlive the summary
     */
    LinkSummary(const Topology& topology, int64_t elapsedPs, NetworkStatistics& statistics);

    /**
     * @param link a link, once each
     * @param counters what it did
     */
    void Add(uint32_t link, const LinkCounters& counters);

    /// All links were added.
    void Finish();

  private:
    const Topology& m_topology;
    double m_elapsedPs;
    NetworkStatistics& m_statistics;
    uint64_t m_usedLinks{0};
    double m_utilizationSum{0}; //!< of the used links
};

} // namespace cosim

#endif // COSIM_LINK_SUMMARY_H
