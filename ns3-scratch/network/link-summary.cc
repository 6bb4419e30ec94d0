/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/link-summary.h"

#include <algorithm>

namespace cosim
{

LinkSummary::LinkSummary(const Topology& topology, int64_t elapsedPs, NetworkStatistics& statistics)
    : m_elapsedPs(static_cast<double>(elapsedPs)),
      m_statistics(statistics)
{
    m_statistics.dimensions.resize(topology.dimensions.size());
    for (std::size_t i = 0; i < topology.dimensions.size(); ++i)
    {
        m_statistics.dimensions[i].name = topology.dimensions[i];
    }
}

void
LinkSummary::Add(const LinkState& link, const LinkCounters& counters)
{
    // An estimator counts bytes that still wait for the link as carried. Limit the busy time to the
    // elapsed time.
    const double utilization =
        m_elapsedPs == 0 ? 0 : std::min(1.0, static_cast<double>(counters.busyPs) / m_elapsedPs);
    DimensionStatistics& sum = m_statistics.dimensions[link.dimension];
    ++sum.links;
    sum.wireBytes += counters.wireBytes;
    sum.drops += counters.drops;
    if (link.bufferBytes != 0)
    { // otherwise it is the queue of a rank at its own links, and not that of a switch
        sum.maxQueueBytes = std::max(sum.maxQueueBytes, counters.maxQueueBytes);
    }
    sum.utilizationMean += utilization; // holds the sum until Finish divides it
    sum.utilizationMax = std::max(sum.utilizationMax, utilization);
    m_statistics.drops += counters.drops;
    m_statistics.ecnMarks += counters.marks;
    if (counters.busyPs > 0)
    {
        ++m_usedLinks;
        m_utilizationSum += utilization;
    }
}

void
LinkSummary::Finish()
{
    for (DimensionStatistics& dimension : m_statistics.dimensions)
    {
        dimension.utilizationMean /= static_cast<double>(std::max<uint64_t>(dimension.links, 1));
    }
    m_statistics.linkUtilizationMean =
        m_usedLinks > 0 ? m_utilizationSum / static_cast<double>(m_usedLinks) : 0;
}

} // namespace cosim
