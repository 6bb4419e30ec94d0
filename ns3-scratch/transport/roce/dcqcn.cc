/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/roce/dcqcn.h"

#include <algorithm>

namespace cosim
{

namespace
{

constexpr double PPB = 1e9;

/// After the first notification, a cut comes so much later than alpha's update of that time [ps].
constexpr int64_t CUT_DELAY_PS = 1000;

/// @return a power, by multiplications alone, so that it is the same on every machine
double
Power(double base, uint64_t exponent)
{
    double power = 1;
    for (; exponent > 0; exponent >>= 1)
    {
        if ((exponent & 1) != 0)
        {
            power *= base;
        }
        base *= base;
    }
    return power;
}

} // namespace

Dcqcn::Dcqcn(const RoceSettings& settings, const PathFacts& path)
    : RateControl(path),
      m_settings(settings),
      m_lineBps(path.lineBps),
      m_gain(settings.dcqcn.gainPpb / PPB),
      m_targetBps(path.lineBps)
{
}

void
Dcqcn::OnFeedback(const Feedback& feedback)
{
    if (feedback.isMarked && m_settings.cnpBytes == 0)
    {
        OnNotification(feedback.nowPs);
    }
}

void
Dcqcn::OnNotification(int64_t nowPs)
{
    Advance(nowPs);
    m_isCutNoted = true;
    if (m_alphaPs != NEVER)
    {
        m_isAlphaNoted = true;
        return;
    }
    m_alphaPs = nowPs + static_cast<int64_t>(m_settings.dcqcn.alphaIntervalPs);
    m_cutPs = nowPs + static_cast<int64_t>(m_settings.dcqcn.cutIntervalPs) + CUT_DELAY_PS;
    m_rateBps = std::max(m_rateBps * (m_settings.dcqcn.firstRatePpb / PPB),
                         static_cast<double>(m_settings.minRateBps));
    m_targetBps = m_rateBps;
}

void
Dcqcn::Advance(int64_t nowPs)
{
    while (true)
    {
        const int64_t nextPs = std::min(m_cutPs, m_risePs);
        if (nextPs > nowPs)
        {
            break;
        }
        UpdateAlpha(nextPs);
        if (m_cutPs <= m_risePs)
        {
            const auto interval = static_cast<int64_t>(m_settings.dcqcn.cutIntervalPs);
            if (m_isCutNoted)
            {
                m_cutPs += interval;
                Cut();
                m_risePs = nextPs + static_cast<int64_t>(m_settings.dcqcn.riseIntervalPs);
            }
            else
            { // nothing happens until the rate rises
                const int64_t untilPs = std::min(nowPs, m_risePs);
                m_cutPs += (std::max(untilPs, nextPs) - nextPs) / interval * interval + interval;
            }
            continue;
        }
        const auto interval = static_cast<int64_t>(m_settings.dcqcn.riseIntervalPs);
        if (IsRisen() && !m_isCutNoted)
        { // it can rise no further
            m_risePs += (nowPs - nextPs) / interval * interval + interval;
            continue;
        }
        m_risePs += interval;
        Rise();
        ++m_timeSteps;
    }
    UpdateAlpha(nowPs);
}

/// Let all updates of alpha happen that are due.
void
Dcqcn::UpdateAlpha(int64_t untilPs)
{
    if (m_alphaPs > untilPs)
    {
        return;
    }
    const auto interval = static_cast<int64_t>(m_settings.dcqcn.alphaIntervalPs);
    const auto updates = static_cast<uint64_t>((untilPs - m_alphaPs) / interval + 1);
    m_alphaPs += static_cast<int64_t>(updates) * interval;
    m_alpha *= 1 - m_gain;
    if (m_isAlphaNoted)
    {
        m_alpha += m_gain;
        m_isAlphaNoted = false;
    }
    m_alpha *= Power(1 - m_gain, updates - 1);
}

/// Cut the rate.
void
Dcqcn::Cut()
{
    if (m_settings.dcqcn.clampsTarget || m_timeSteps != 0 || m_byteSteps != 0)
    {
        m_targetBps = m_rateBps;
    }
    m_rateBps = std::max(static_cast<double>(m_settings.minRateBps), m_rateBps * (1 - m_alpha / 2));
    m_timeSteps = 0;
    m_byteSteps = 0;
    m_sentBytes = 0;
    m_isCutNoted = false;
}

/// Let the rate rise by a step.
void
Dcqcn::Rise()
{
    const uint32_t recovery = m_settings.dcqcn.recoverySteps;
    const bool hasBytes = m_settings.dcqcn.counterBytes != 0;
    const uint32_t most = hasBytes ? std::max(m_timeSteps, m_byteSteps) : m_timeSteps;
    const uint32_t least = hasBytes ? std::min(m_timeSteps, m_byteSteps) : m_timeSteps;
    if (most >= recovery)
    {
        const uint64_t step =
            least > recovery ? m_settings.hyperIncreaseBps : m_settings.increaseBps;
        m_targetBps = std::min(m_targetBps + static_cast<double>(step), m_lineBps);
    }
    m_rateBps = m_rateBps / 2 + m_targetBps / 2;
    if (m_targetBps - m_rateBps < 1)
    { // halving the difference would never end
        m_rateBps = m_targetBps;
    }
}

/// @return true if the rate is the highest, and stays so
bool
Dcqcn::IsRisen() const
{
    return m_rateBps == m_lineBps && m_targetBps == m_lineBps;
}

int64_t
Dcqcn::GetNextRisePs() const
{
    return IsRisen() ? NEVER : m_risePs;
}

void
Dcqcn::OnSent(int64_t nowPs, uint32_t bytes)
{
    const uint64_t counter = m_settings.dcqcn.counterBytes;
    if (counter == 0 || m_risePs == NEVER)
    {
        return;
    }
    Advance(nowPs);
    for (m_sentBytes += bytes; m_sentBytes >= counter; m_sentBytes -= counter)
    {
        Rise();
        ++m_byteSteps;
    }
}

} // namespace cosim
