/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/rate-dctcp.h"

#include <algorithm>

namespace cosim
{

RateDctcp::RateDctcp(const RoceSettings& settings, const PathFacts& path)
    : RateControl(path),
      m_settings(settings),
      m_path(path)
{
}

void
RateDctcp::OnFeedback(const Feedback& feedback)
{
    m_marks += feedback.isMarked ? 1 : 0;
    const bool isRound = feedback.acked > m_roundEnd;
    if (isRound)
    {
        if (m_roundEnd > 0)
        {
            const double gain = m_settings.dctcp.gainPpb / 1e9;
            const double part =
                std::min(1.0, static_cast<double>(m_marks) / static_cast<double>(m_packets));
            m_alpha = (1 - gain) * m_alpha + gain * part;
            m_marks = 0;
        }
        const uint64_t begin = m_roundEnd == 0 ? 0 : feedback.acked;
        m_roundEnd = feedback.next;
        m_packets = (feedback.next - std::min(begin, feedback.next)) / m_path.packetBytes + 1;
    }
    m_isCut = m_isCut && feedback.acked <= m_cutEnd;
    if (feedback.isMarked && !m_isCut)
    {
        m_rateBps =
            std::max(static_cast<double>(m_settings.minRateBps), m_rateBps * (1 - m_alpha / 2));
        m_isCut = true;
        m_cutEnd = feedback.next;
    }
    if (isRound && !m_isCut)
    {
        m_rateBps =
            std::min(m_path.lineBps, m_rateBps + static_cast<double>(m_settings.dctcp.increaseBps));
    }
}

} // namespace cosim
