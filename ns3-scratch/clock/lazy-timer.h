/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LAZY_TIMER_H
#define COSIM_LAZY_TIMER_H

#include "clock/causal-queue.h"
#include "clock/event-origin.h"

#include "ns3/nstime.h"

#include <cstdint>

namespace cosim
{

class CausalSimulator;

/**
 * A timer for uses in which it is re-armed far more often than it expires.
 *
 * TCP re-arms its retransmission timer on every ACK. ns-3 leaves a cancelled event in the queue
 * until its time comes, so a timer that uses Cancel and Schedule leaks one event per ACK. This
 * timer is its own event, which is in the queue once. Re-arming for a later time only stores that
 * time. An event that finds the expiry in the future goes back into the queue. The timer expires at
 * the same time as a usual timer, and in the same place among the events of that time.
 *
 * A timer must live as long as the simulation runs.
 */
class LazyTimer : private CausalEvent
{
  public:
    /// @param clock the clock by which it expires; must outlive the timer
    explicit LazyTimer(CausalSimulator& clock)
        : m_clock(clock)
    {
    }

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
    /// Called when the timer expires.
    virtual void OnExpiry() = 0;

    // CausalEvent
    void Happen() override;

    /// @return true if the timer expires with the current event; then it is no longer armed
    bool TakeExpiry(const EventOrigin& current);

    void Schedule();

    CausalSimulator& m_clock;
    int64_t m_expiryPs{-1};     //!< -1: not armed
    EventOrigin m_expiryOrigin; //!< origin that an event scheduled on arming would have had
    int64_t m_eventPs{-1};      //!< time of the event; -1: not in the queue
    int64_t m_eventNumber{0};   //!< number of its origin
};

/// A LazyTimer that calls a function of its owner.
template <typename Owner, void (Owner::*EXPIRED)()>
class OwnedTimer final : public LazyTimer
{
  public:
    /**
     * @param clock the clock by which it expires; must outlive the timer
     * @param owner called on expiry
     */
    OwnedTimer(CausalSimulator& clock, Owner& owner)
        : LazyTimer(clock),
          m_owner(owner)
    {
    }

  private:
    // LazyTimer
    void OnExpiry() override
    {
        (m_owner.*EXPIRED)();
    }

    Owner& m_owner;
};

} // namespace cosim

#endif // COSIM_LAZY_TIMER_H
