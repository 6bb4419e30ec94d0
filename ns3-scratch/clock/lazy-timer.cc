/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/lazy-timer.h"

#include "clock/causal-simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

void
LazyTimer::Arm(Time delay)
{
    m_expiryPs = m_clock.GetNowPs() + delay.GetTimeStep();
    m_expiryOrigin = m_clock.MakeOrigin();
    if (m_eventPs < 0 || m_eventPs > m_expiryPs)
    { // an event that is too late stays in the queue, and does nothing
        Schedule();
    }
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

Time
LazyTimer::GetDelayLeft() const
{
    return Time(m_expiryPs - m_clock.GetNowPs());
}

void
LazyTimer::Schedule()
{
    m_eventPs = m_expiryPs;
    m_eventNumber = m_expiryOrigin.number;
    m_clock.Schedule(m_expiryPs, *this, m_expiryOrigin, this);
}

void
LazyTimer::Happen()
{
    if (TakeExpiry(m_clock.GetCurrent()))
    {
        OnExpiry();
    }
    else
    {
        m_clock.NoteIdleEvent();
    }
}

bool
LazyTimer::TakeExpiry(const EventOrigin& current)
{
    if (current.number != m_eventNumber)
    {
        return false;
    }
    const int64_t nowPs = std::exchange(m_eventPs, -1);
    if (m_expiryPs < 0)
    {
        return false;
    }
    if (m_expiryPs > nowPs || m_expiryOrigin > current)
    {
        Schedule();
        return false;
    }
    m_expiryPs = -1;
    return true;
}

} // namespace cosim
