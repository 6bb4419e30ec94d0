/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LAZY_TIMER_H
#define COSIM_LAZY_TIMER_H

#include "clock/event-origin.h"

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"

#include <functional>

namespace cosim
{

/**
 * A timer for uses in which it is re-armed far more often than it expires.
 *
 * TCP re-arms its retransmission timer on every ACK. ns-3 leaves a cancelled event in the queue
 * until its time comes, so a timer that uses Cancel and Schedule leaks one event per ACK. This
 * timer keeps at most one event in the queue. Re-arming only stores the new expiry time. An event
 * that finds the expiry in the future goes back into the queue. The timer expires at the same time
 * as a usual timer, and in the same place among the events of that time.
 */
class LazyTimer
{
  public:
    /// @param expired function to call on expiry
    explicit LazyTimer(std::function<void()> expired);
    ~LazyTimer();

    LazyTimer(const LazyTimer&) = delete;
    LazyTimer& operator=(const LazyTimer&) = delete;

    /// @param delay time from now until the expiry; replaces an earlier expiry
    void Arm(ns3::Time delay);

    /// Disarm the timer.
    void Cancel();

    /// @return true if the timer is armed
    bool IsArmed() const;

    /// @return the time until the expiry; the timer must be armed
    ns3::Time GetDelayLeft() const;

  private:
    class Event;

    void Schedule();
    void OnEvent();

    int64_t m_expiryPs{-1};     //!< -1: not armed
    EventOrigin m_expiryOrigin; //!< origin that an event scheduled on arming would have had
    int64_t m_eventPs{-1};      //!< time of the event
    bool m_isScheduled{false};  //!< true if m_event is in the queue
    ns3::Ptr<Event> m_event;    //!< used again and again; null before the first use
    std::function<void()> m_expired;
};

} // namespace cosim

#endif // COSIM_LAZY_TIMER_H
