/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/timely.h"

#include <algorithm>

namespace cosim
{

Timely::Timely(const RoceSettings& settings, const PathFacts& path)
    : RateControl(path),
      m_settings(settings),
      m_lineBps(path.lineBps)
{
}

void
Timely::OnFeedback(const Feedback& feedback)
{
    if (feedback.acked <= m_roundEnd)
    {
        return;
    }
    const bool isFirst = m_roundEnd == 0;
    m_roundEnd = feedback.next;
    if (!isFirst)
    {
        const TimelySettings& timely = m_settings.timely;
        const double weight = timely.weightPpb / 1e9;
        const double beta = timely.betaPpb / 1e9;
        const auto rtt = static_cast<double>(feedback.rttPs);
        const auto longest = static_cast<double>(timely.longRttPs);
        m_differencePs = (1 - weight) * m_differencePs +
                         weight * static_cast<double>(feedback.rttPs - m_lastRttPs);
        const double gradient = m_differencePs / static_cast<double>(timely.minRttPs);
        if (feedback.rttPs < static_cast<int64_t>(timely.shortRttPs))
        {
            Increase();
        }
        else if (rtt > longest)
        {
            m_rateBps *= 1 - beta * (1 - longest / rtt);
            m_increases = 0;
        }
        else if (gradient <= 0)
        {
            Increase();
        }
        else
        {
            m_rateBps *= std::max(0.0, 1 - beta * gradient);
            m_increases = 0;
        }
        m_rateBps = std::clamp(m_rateBps,
                               std::min(static_cast<double>(m_settings.minRateBps), m_lineBps),
                               m_lineBps);
    }
    m_lastRttPs = feedback.rttPs;
}

/// Let the rate rise by a step, which is larger after some in a row.
void
Timely::Increase()
{
    const bool isLarge = m_increases >= m_settings.timely.hyperAfter;
    m_rateBps +=
        static_cast<double>(isLarge ? m_settings.hyperIncreaseBps : m_settings.increaseBps);
    ++m_increases;
}

} // namespace cosim
