/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lazy-timer.h"

#include "ns3/simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

LazyTimer::LazyTimer(std::function<void()> expired)
    : m_expired(std::move(expired))
{
}

LazyTimer::~LazyTimer()
{
    if (m_eventPs >= 0)
    {
        m_event.Cancel();
    }
}

void
LazyTimer::Arm(Time delay)
{
    m_expiryPs = (Simulator::Now() + delay).GetTimeStep();
    if (m_eventPs >= 0 && m_eventPs <= m_expiryPs)
    {
        return;
    }
    if (m_eventPs >= 0)
    {
        m_event.Cancel();
    }
    m_eventPs = m_expiryPs;
    m_event = Simulator::Schedule(delay, &LazyTimer::OnEvent, this);
}

void
LazyTimer::Cancel()
{
    m_expiryPs = -1;
}

bool
LazyTimer::IsArmed() const
{
    return m_expiryPs >= 0;
}

void
LazyTimer::OnEvent()
{
    const int64_t now = m_eventPs;
    m_eventPs = -1;
    if (m_expiryPs < 0)
    {
        return;
    }
    if (m_expiryPs > now)
    {
        m_eventPs = m_expiryPs;
        m_event = Simulator::Schedule(TimeStep(static_cast<uint64_t>(m_expiryPs - now)),
                                      &LazyTimer::OnEvent,
                                      this);
        return;
    }
    m_expiryPs = -1;
    m_expired();
}

} // namespace cosim
