/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_SUMMARY_H
#define COSIM_LINK_SUMMARY_H

#include "network/live-links.h"
#include "network/network-statistics.h"
#include "stream/stream.h"
#include "support/ledger.h"
#include "support/wide-arithmetic.h"

#include <cstdint>

namespace cosim
{

/// Counters of one link since the start of the run.
struct LinkCounters
{
    int64_t busyPs{0};
    /// bytes of the packets whose transmission is complete; an estimator counts a message when it
    /// enters the link
    uint64_t wireBytes{0};
    uint64_t drops{0};
    uint64_t marks{0};
    /// longest egress queue; that of a link without a limit, such as a rank's, includes the
    /// rest of the packet in transmission
    uint64_t maxQueueBytes{0};
    uint64_t queuedBytes{0}; //!< bytes in the egress queue now; 0 in estimators
    uint64_t pauses{0};      //!< how often a lossless switch paused the port
    int64_t pausedPs{0};     //!< how long, up to now
};

template <>
inline constexpr auto COUNTERS<LinkCounters> = std::make_tuple(&LinkCounters::busyPs,
                                                               &LinkCounters::wireBytes,
                                                               &LinkCounters::drops,
                                                               &LinkCounters::marks);

/**
 * @param timePs a time [ps]
 * @param rateBps a rate [bit/s]
 * @return the bytes that a link of this rate sends in this time, rounded up
 */
inline uint64_t
GetBytesWithin(int64_t timePs, uint64_t rateBps)
{
    constexpr uint64_t bytePs = 8'000'000'000'000; // transmission time of a byte at 1 bit/s
    return MultiplyDivideUp(static_cast<uint64_t>(timePs), rateBps, bytePs, UINT64_MAX);
}

/// Computes the statistics of all links and of each dimension from the counters of the links.
class LinkSummary
{
  public:
    /**
     * @param topology supplies the names of the dimensions
     * @param elapsedPs elapsed time by which busy times are divided [ps]; if it is 0, utilizations
     * are 0
     * @param statistics receives the result; must outlive the summary
     */
    LinkSummary(const Topology& topology, int64_t elapsedPs, NetworkStatistics& statistics);

    /**
     * Add the counters of a link.
     *
     * @param link the link
     * @param counters the counters of the link
     */
    void Add(const LinkState& link, const LinkCounters& counters);

    /// Complete the statistics. Call it after all links were added.
    void Finish();

  private:
    double m_elapsedPs;
    NetworkStatistics& m_statistics;
    uint64_t m_usedLinks{0};
    double m_utilizationSum{0}; //!< over the links that carried data
};

} // namespace cosim

#endif // COSIM_LINK_SUMMARY_H
