/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/lazy-timer.h"

#include "clock/causal-simulator.h"

#include <utility>

namespace cosim
{

using namespace ns3;

/// The event that calls the timer. An event that the timer no longer needs does nothing.
class LazyTimer::Event : public EventImpl
{
  public:
    /// @param timer the timer to call
    explicit Event(LazyTimer* timer)
        : m_timer(timer)
    {
    }

  private:
    void Notify() override
    {
        m_timer->OnEvent();
    }

    LazyTimer* m_timer;
};

LazyTimer::LazyTimer(std::function<void()> expired)
    : m_expired(std::move(expired))
{
}

LazyTimer::~LazyTimer()
{
    if (m_event)
    {
        m_event->Cancel();
    }
}

void
LazyTimer::Arm(Time delay)
{
    CausalSimulator& simulator = CausalSimulator::Get();
    m_expiryPs = simulator.GetNowPs() + delay.GetTimeStep();
    m_expiryOrigin = simulator.MakeOrigin();
    if (m_isScheduled && m_eventPs > m_expiryPs)
    {
        m_event->Cancel();
        m_event = nullptr;
        m_isScheduled = false;
    }
    if (!m_isScheduled)
    {
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
    return Time(m_expiryPs - CausalSimulator::Get().GetNowPs());
}

void
LazyTimer::Schedule()
{
    if (!m_event)
    {
        m_event = Create<Event>(this);
    }
    m_isScheduled = true;
    m_eventPs = m_expiryPs;
    CausalSimulator::Get().Schedule(m_expiryPs, PeekPointer(m_event), m_expiryOrigin);
}

void
LazyTimer::OnEvent()
{
    m_isScheduled = false;
    if (m_expiryPs < 0)
    {
        return;
    }
    if (m_expiryPs > m_eventPs || m_expiryOrigin > CausalSimulator::Get().GetCurrent())
    {
        Schedule();
        return;
    }
    m_expiryPs = -1;
    m_expired();
}

} // namespace cosim
