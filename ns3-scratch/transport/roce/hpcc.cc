/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/hpcc.h"

#include <algorithm>

namespace cosim
{

Hpcc::Hpcc(const RoceSettings& settings, const PathFacts& path)
    : RateControl(path),
      m_settings(settings),
      m_path(path),
      m_referenceBps(path.lineBps)
{
}

void
Hpcc::OnFeedback(const Feedback& feedback)
{
    if (feedback.telemetry == nullptr)
    {
        return;
    }
    const bool isFull = feedback.acked > m_updateEnd;
    if (m_updateEnd == 0)
    { // there is nothing yet with which the numbers of the ports could be compared
        m_last = *feedback.telemetry;
        m_updateEnd = feedback.next;
        return;
    }
    if ((isFull || m_settings.hpcc.reactsFast) && Measure(*feedback.telemetry))
    {
        const double ratio = m_utilization / (m_settings.hpcc.targetPpb / 1e9);
        const bool isMultiplied = ratio >= 1 || m_stage >= m_settings.hpcc.stages;
        const double rate = (isMultiplied ? m_referenceBps / ratio : m_referenceBps) +
                            static_cast<double>(m_settings.increaseBps);
        m_rateBps = std::clamp(rate,
                               std::min(static_cast<double>(m_settings.minRateBps), m_path.lineBps),
                               m_path.lineBps);
        if (isFull)
        {
            m_referenceBps = m_rateBps;
            m_stage = isMultiplied ? 0 : m_stage + 1;
        }
    }
    if (isFull)
    {
        m_updateEnd = std::max(m_updateEnd, feedback.next);
    }
}

/**
 * Update the utilization.
 *
 * @param now what the ports have written
 * @return false if it says nothing
 */
bool
Hpcc::Measure(const Telemetry& now)
{
    double most = 0;
    double mostNs = 0;
    bool isKnown = false;
    for (std::size_t i = 0; i < std::min(now.count, m_last.count); ++i)
    {
        const Telemetry::Hop& hop = now.hops[i];
        const Telemetry::Hop& before = m_last.hops[i];
        const double timeNs = (hop.timeNs - before.timeNs) & Telemetry::TIME_MASK;
        if (timeNs == 0)
        {
            continue;
        }
        const uint64_t sent =
            uint64_t{(hop.sent - before.sent) & Telemetry::BYTES_MASK} * Telemetry::BYTES_UNIT;
        const uint64_t queue = uint64_t{std::min(hop.queue, before.queue)} * Telemetry::QUEUE_UNIT;
        const double sentBps = static_cast<double>(sent) * 8e9 / timeNs;
        const auto rate = static_cast<double>(hop.rateBps);
        const double utilization = sentBps / rate + static_cast<double>(queue) * m_path.lineBps /
                                                        rate / m_path.windowBytes;
        isKnown = true;
        if (utilization > most)
        {
            most = utilization;
            mostNs = timeNs;
        }
    }
    m_last = now;
    if (isKnown)
    {
        const double weight =
            std::min(1.0,
                     mostNs * 1000 / static_cast<double>(std::max<int64_t>(m_path.baseRttPs, 1)));
        m_utilization = (1 - weight) * m_utilization + weight * most;
    }
    return isKnown;
}

} // namespace cosim
