/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_AGENDA_H
#define COSIM_AGENDA_H

#include "clock/causal-simulator.h"
#include "support/radix-queue.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The planned events of an estimator. ns-3 sees one event for each time at which something is due,
 * or none if no other event comes before that time.
 *
 * @tparam Owner the estimator, with these functions; times are in ps, and now is the current time:
 * Now() returns now; OnPlanned(subject, now) handles an event; OnPass(now) is called after the
 * events that are due, and may plan others for now; OnServed(now) is called after the last of them;
 * OnNear(subject, before) is called for an event that comes nearer, with an upper bound of the
 * number of events before it.
 */
template <typename Owner>
class Agenda : private CausalEvent
{
  public:
    /// So many events before an event that comes nearer, the owner is told.
    static constexpr std::size_t SOON = 128;

    /// @param owner handles the events; must outlive the agenda
    explicit Agenda(Owner& owner)
        : m_owner(owner)
    {
    }

    /**
     * Plan an event.
     *
     * @param at time of the event; not in the past [ps]
     * @param subject identifies the event to the owner
     */
    void Plan(uint64_t at, uint32_t subject)
    {
        m_due.Push(at, subject);
        if (!m_isServing)
        {
            Wake(at, m_owner.Now());
        }
    }

    /**
     * Request a call of OnPass and OnServed at the current time, also if no event is due.
     *
     * @param now current time [ps]
     */
    void RequestService(uint64_t now)
    {
        if (!m_isServing)
        {
            Wake(now, now);
        }
    }

    /// Handle no further events.
    void Close()
    {
        m_isClosed = true;
    }

  private:
    void Wake(uint64_t at, uint64_t now)
    {
        if (IsFirst(at))
        {
            m_wakes.push_back(at);
            CausalSimulator& simulator = CausalSimulator::Get();
            simulator.Schedule(simulator.GetNowPs() + static_cast<int64_t>(at - now),
                               *this,
                               simulator.MakeOrigin());
        }
    }

    /// @return true if no event of the simulator is scheduled for this time or before
    bool IsFirst(uint64_t at) const
    {
        return m_wakes.empty() || at < m_wakes.back();
    }

    bool IsDue(uint64_t now) const
    {
        return m_due.GetFirstKey() == now && !m_isClosed;
    }

    // CausalEvent
    void Happen() override
    {
        uint64_t now = m_wakes.back();
        m_wakes.pop_back();
        m_isServing = true;
        uint64_t next = Serve(now);
        // The simulator needs no event for a time before its next event.
        while (IsFirst(next) && next != NEVER &&
               CausalSimulator::Get().Advance(static_cast<int64_t>(next - now)))
        {
            now = next;
            next = Serve(now);
        }
        m_isServing = false;
        if (next != NEVER)
        {
            Wake(next, now);
        }
    }

    /**
     * Serve the events of a time.
     *
     * @return the time of the next events, or NEVER
     */
    uint64_t Serve(uint64_t now)
    {
        const auto approach = [this](uint32_t subject, std::size_t before) {
            if (before <= SOON)
            {
                m_owner.OnNear(subject, before);
            }
        };
        do
        {
            while (IsDue(now))
            {
                m_owner.OnPlanned(m_due.Pop(approach), now);
            }
            m_owner.OnPass(now);
        } while (IsDue(now));
        m_owner.OnServed(now);
        return m_isClosed ? NEVER : m_due.GetFirstKey();
    }

    static constexpr uint64_t NEVER = RadixQueue<uint32_t>::NEVER;

    Owner& m_owner;
    RadixQueue<uint32_t> m_due;
    std::vector<uint64_t> m_wakes; //!< times of the events of the simulator; the next one is last
    bool m_isServing{false};
    bool m_isClosed{false};
};

} // namespace cosim

#endif // COSIM_AGENDA_H
