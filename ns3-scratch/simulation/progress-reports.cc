/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "simulation/progress-reports.h"

#include <utility>

namespace cosim
{

void
ProgressReports::Start(const ProgressHook& hook, std::chrono::duration<double> interval)
{
    m_hook = hook;
    m_interval = std::chrono::duration_cast<Clock::duration>(interval);
    m_started = Clock::now();
    m_next = m_started + m_interval;
}

bool
ProgressReports::IsDue()
{
    const Clock::time_point now = Clock::now();
    if (now < m_next)
    {
        return false;
    }
    m_next = now + m_interval;
    return true;
}

double
ProgressReports::GetWallS() const
{
    return std::chrono::duration<double>(Clock::now() - m_started).count();
}

bool
ProgressReports::Report(const RunProgress& progress)
{
    try
    {
        return m_hook(progress);
    }
    catch (...)
    { // an exception must not pass through the calls of ns-3 that led here, so Finish rethrows it
        m_thrown = std::current_exception();
        return false;
    }
}

void
ProgressReports::Finish()
{
    m_hook = {};
    if (m_thrown)
    {
        std::rethrow_exception(std::exchange(m_thrown, nullptr));
    }
}

} // namespace cosim
