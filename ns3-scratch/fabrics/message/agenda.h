/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_AGENDA_H
#define COSIM_AGENDA_H

#include "support/radix-queue.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The planned events of an estimator. ns-3 sees only one event for each time at which something is
 * due.
 *
 * @tparam Owner the estimator, with these functions; times are in ps, and now is the current time:
 * Now() returns now; OnPlanned(subject, now) handles an event; OnPass(now) is called after the
 * events that are due, and may plan others for now; OnServed(now) is called after the last of them.
 */
template <typename Owner>
class Agenda
{
  public:
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

    /**
     * Look at an event of the current time.
     *
     * @param distance number of events before it
     * @return its subject, or null if there is none
     */
    const uint32_t* LookAhead(std::size_t distance) const
    {
        return m_due.LookAhead(distance);
    }

    /// @return true if no event is planned
    bool IsEmpty() const
    {
        return m_wakes.empty() && m_due.GetFirstKey() == RadixQueue<uint32_t>::NEVER;
    }

    /// Handle no further events.
    void Close()
    {
        m_isClosed = true;
    }

  private:
    void Wake(uint64_t at, uint64_t now)
    {
        if (m_wakes.empty() || at < m_wakes.back())
        {
            m_wakes.push_back(at);
            ns3::Simulator::Schedule(ns3::Time(static_cast<int64_t>(at - now)),
                                     &Agenda::Serve,
                                     this);
        }
    }

    bool IsDue(uint64_t now) const
    {
        return m_due.GetFirstKey() == now && !m_isClosed;
    }

    void Serve()
    {
        const uint64_t now = m_wakes.back();
        m_wakes.pop_back();
        m_isServing = true;
        do
        {
            while (IsDue(now))
            {
                m_owner.OnPlanned(m_due.Pop(), now);
            }
            m_owner.OnPass(now);
        } while (IsDue(now));
        m_owner.OnServed(now);
        m_isServing = false;
        if (!m_isClosed && m_due.GetFirstKey() != RadixQueue<uint32_t>::NEVER)
        {
            Wake(m_due.GetFirstKey(), now);
        }
    }

    Owner& m_owner;
    RadixQueue<uint32_t> m_due;
    std::vector<uint64_t> m_wakes; //!< times of the events that call Serve; the next one is last
    bool m_isServing{false};
    bool m_isClosed{false};
};

} // namespace cosim

#endif // COSIM_AGENDA_H
