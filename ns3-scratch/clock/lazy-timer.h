/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LAZY_TIMER_H
#define COSIM_LAZY_TIMER_H

#include "clock/causal-scheduler.h"

#include "ns3/event-impl.h"
#include "ns3/nstime.h"

#include <functional>

namespace cosim
{

/**
 * A timer that is re-armed far more often than it expires.
 *
 * TCP pushes its retransmission timer back on every ACK. ns-3 leaves a cancelled event in the
 * queue until its time comes, so a timer built on Cancel and Schedule leaks an event an ACK. This
 * one keeps at most one event in the queue: re-arming only notes the new expiry, and an event that
 * finds it in the future goes back into the queue for it. It expires at the same instant, and among
 * the events of that instant in the same place.
 */
class LazyTimer
{
  public:
    /// @param expired what to call on expiry
    explicit LazyTimer(std::function<void()> expired);
    ~LazyTimer();

    LazyTimer(const LazyTimer&) = delete;
    LazyTimer& operator=(const LazyTimer&) = delete;

    /// @param delay from now until the expiry; replaces an earlier one
    void Arm(ns3::Time delay);

    /// Do not expire.
    void Cancel();

    /// @return whether it will expire
    bool IsArmed() const;

    /// @return the time until it expires; it must be armed
    ns3::Time GetDelayLeft() const;

  private:
    class Event;

    void Schedule();
    void OnEvent();

    std::function<void()> m_expired;
    ns3::Ptr<Event> m_event;    //!< the one event in the queue; null: none
    int64_t m_eventPs{-1};      //!< its time
    EventOrigin m_eventOrigin;  //!< its origin
    int64_t m_expiryPs{-1};     //!< -1: not armed
    EventOrigin m_expiryOrigin; //!< where the timer was armed
};

} // namespace cosim

#endif // COSIM_LAZY_TIMER_H
