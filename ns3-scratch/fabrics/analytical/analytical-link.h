/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_LINK_H
#define COSIM_ANALYTICAL_LINK_H

#include "support/wide-arithmetic.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A link that carries one message at a time, in the order of arrival. Messages are entered before
 * they arrive, as soon as their arrival time is known, and in any order.
 *
 * A message that is entered later can arrive earlier. Then the messages behind it move back. That
 * has no side effects if those messages leave the network at the end of this link. Such messages
 * are called *expected*; they can still move. A message that has arrived, or that continues on
 * another link, is *settled*; it does not move.
 *
 * Packets leave in the order in which they arrive. So on a link between switches, a short message
 * *passes* a long one of which much has not arrived yet: only what has arrived is ahead of it. The
 * long message would be later by as much, but it is settled. Short ones therefore pass only until
 * their sum is half of what has not arrived.
 */
class AnalyticalLink
{
  public:
    /// A message that leaves the network at the end of this link.
    struct Visit
    {
        uint64_t arrival;      //!< arrival of its first packet [ps]
        uint64_t transmission; //!< transmission time of the whole message [ps]
        uint64_t earliest;     //!< earliest possible end, because its last packet arrives late [ps]
        uint64_t end;          //!< end of its transmission [ps]
        uint64_t sentAt;       //!< time at which its source sent it [ps]
        uint32_t bundle;       //!< bundle that it belongs to
        uint32_t path;         //!< path that it takes
    };

    /// The time that a message spends on the link [ps].
    struct Passage
    {
        uint64_t start;
        uint64_t end;
    };

    /// The largest number of expected messages that one new message can move back.
    static constexpr std::size_t MAX_MOVED = 32;

    /// See Expect.
    static constexpr uint64_t REFUSED = UINT64_MAX;

    /**
     * Enter a message that continues on another link, or that was not expected.
     *
     * @param arrival arrival of the first packet; must not be before now or before the arrival of
     * an earlier call [ps]
     * @param transmission transmission time of the whole message [ps]
     * @param earliest earliest possible end of the transmission [ps]
     * @param onMoved called with each expected message that moves back, and its previous end
     * @return start and end of the transmission
     */
    template <typename OnMoved>
    Passage Settle(uint64_t arrival,
                   uint64_t transmission,
                   uint64_t earliest,
                   const OnMoved& onMoved);

    /**
     * Enter a message that comes from another link, on a link without expected messages.
     *
     * @param arrival see Settle
     * @param lastByte arrival of the last packet [ps]
     * @param transmission transmission time of the whole message [ps]
     * @param earliest earliest possible end of the transmission [ps]
     * @return start and end of the transmission
     */
    Passage Pass(uint64_t arrival, uint64_t lastByte, uint64_t transmission, uint64_t earliest);

    /**
     * Enter an expected message, which leaves the network at the end of this link.
     *
     * @param visit the message, without its end
     * @param now current time; must not decrease from call to call [ps]
     * @param onMoved see Settle
     * @return end of its transmission [ps], or REFUSED if more than MAX_MOVED messages would come
     * after it
     */
    template <typename OnMoved>
    uint64_t Expect(Visit visit, uint64_t now, const OnMoved& onMoved);

    /// @return whether expected messages of different bundles have arrived in the same picosecond
    bool IsTied() const
    {
        return m_isTied;
    }

    /// @return the longest wait of an expected message [ps]
    uint64_t GetLongestWait() const
    {
        return m_longestWait;
    }

  private:
    void NoteTie(const Visit& before, const Visit& visit)
    {
        m_isTied |= before.arrival == visit.arrival && before.bundle != visit.bundle;
    }

    void Advance(uint64_t now);
    void MakeRoom(uint64_t now);
    uint64_t Put(const Visit& visit, uint64_t end);

    template <typename OnMoved>
    void Move(std::size_t index, uint64_t end, const OnMoved& onMoved);

    template <typename OnMoved>
    uint64_t Insert(Visit visit, const OnMoved& onMoved);

    /// Arrival and end of a message [ps].
    struct Times
    {
        uint64_t arrival{0};
        uint64_t end{0};
    };

    /// A message that arrives while it is transmitted [ps].
    struct Arriving
    {
        uint64_t from{0};         //!< arrival of its first packet
        uint64_t until{0};        //!< arrival of its last packet
        uint64_t start{0};        //!< start of its transmission
        uint64_t transmission{0}; //!< transmission time of the whole message
        uint64_t passed{0};       //!< transmission time of messages that have passed it

        /// @return the transmission time of what has arrived by a time
        uint64_t Get(uint64_t at) const
        {
            return at < until ? MultiplyDivide(transmission, at - from, until - from)
                              : transmission;
        }
    };

    uint64_t m_free{0};         //!< end of the last message that was removed from the queue [ps]
    Times m_last;               //!< of the last message in the queue
    std::vector<Visit> m_queue; //!< expected messages, and some that have arrived, by arrival time
    uint64_t m_longestWait{0};
    bool m_isTied{false};
    Arriving m_arriving; //!< the message that Pass has entered and that arrives last
};

/// Remove the messages that have arrived by now, because they are settled.
[[gnu::noinline]] inline void
AnalyticalLink::Advance(uint64_t now)
{
    std::size_t come = 0;
    while (come < m_queue.size() && m_queue[come].arrival <= now)
    {
        m_free = m_queue[come++].end;
    }
    m_queue.erase(m_queue.begin(), m_queue.begin() + static_cast<std::ptrdiff_t>(come));
}

/// Make room in the queue for one more message.
[[gnu::noinline]] inline void
AnalyticalLink::MakeRoom(uint64_t now)
{
    Advance(now);
    m_queue.reserve(std::max<std::size_t>(8, 2 * m_queue.size()));
}

/// Note the wait of a message that follows one with the given end. @return its own end [ps]
inline uint64_t
AnalyticalLink::Put(const Visit& visit, uint64_t end)
{
    const uint64_t start = std::max(visit.arrival, end);
    m_longestWait = std::max(m_longestWait, start - visit.arrival);
    return std::max(start + visit.transmission, visit.earliest);
}

template <typename OnMoved>
AnalyticalLink::Passage
AnalyticalLink::Settle(uint64_t arrival,
                       uint64_t transmission,
                       uint64_t earliest,
                       const OnMoved& onMoved)
{
    if (!m_queue.empty())
    {
        Advance(arrival);
    }
    const uint64_t start = std::max(arrival, m_free);
    m_free = std::max(start + transmission, earliest);
    m_arriving.until = 0;
    if (!m_queue.empty())
    {
        Move(0, m_free, onMoved);
    }
    return {start, m_free};
}

inline AnalyticalLink::Passage
AnalyticalLink::Pass(uint64_t arrival, uint64_t lastByte, uint64_t transmission, uint64_t earliest)
{
    Arriving& other = m_arriving;
    if (arrival < std::min(m_free, other.until))
    {
        const uint64_t come = other.Get(arrival);
        if (2 * (other.passed + transmission) <= other.transmission - come)
        {
            const uint64_t base = other.start + other.passed;
            const uint64_t start = std::max(arrival, base + come);
            const uint64_t end = std::max({start, base + other.Get(lastByte)}) + transmission;
            other.passed += transmission;
            m_free = std::max({m_free, end, earliest, base + transmission + other.transmission});
            return {start, std::max(end, earliest)};
        }
    }
    const uint64_t start = std::max(arrival, m_free);
    m_free = std::max(start + transmission, earliest);
    if (lastByte < other.until)
    {
        other.start += transmission;
    }
    else
    {
        other = {arrival, lastByte, start, transmission, 0};
    }
    return {start, m_free};
}

template <typename OnMoved>
inline uint64_t
AnalyticalLink::Expect(Visit visit, uint64_t now, const OnMoved& onMoved)
{
    // Most messages arrive after the last message of the queue, so test that case first.
    if (m_queue.empty() || m_last.arrival <= now)
    {
        m_free = m_queue.empty() ? m_free : m_last.end;
        m_queue.clear();
        visit.end = Put(visit, m_free);
    }
    else if (m_last.arrival <= visit.arrival)
    {
        NoteTie(m_queue.back(), visit);
        visit.end = Put(visit, m_last.end);
    }
    else
    {
        return Insert(visit, onMoved);
    }
    if (m_queue.size() == m_queue.capacity())
    {
        MakeRoom(now);
    }
    m_queue.push_back(visit);
    m_last = {visit.arrival, visit.end};
    return visit.end;
}

template <typename OnMoved>
[[gnu::noinline]] uint64_t
AnalyticalLink::Insert(Visit visit, const OnMoved& onMoved)
{
    std::size_t index = m_queue.size();
    while (index > 0 && m_queue[index - 1].arrival > visit.arrival)
    {
        if (m_queue.size() - index == MAX_MOVED)
        {
            return REFUSED;
        }
        --index;
    }
    if (index > 0)
    {
        NoteTie(m_queue[index - 1], visit);
    }
    visit.end = Put(visit, index == 0 ? m_free : m_queue[index - 1].end);
    m_queue.insert(m_queue.begin() + static_cast<std::ptrdiff_t>(index), visit);
    Move(index + 1, visit.end, onMoved);
    return visit.end;
}

/**
 * Recompute the times of a message and of those after it. `end` is the end of the message before
 * it.
 */
template <typename OnMoved>
[[gnu::noinline]] void
AnalyticalLink::Move(std::size_t index, uint64_t end, const OnMoved& onMoved)
{
    for (; index < m_queue.size(); ++index)
    {
        Visit& visit = m_queue[index];
        const uint64_t old = visit.end;
        visit.end = Put(visit, end);
        if (visit.end == old)
        {
            return;
        }
        end = visit.end;
        onMoved(visit, old);
    }
    m_last.end = end;
}

} // namespace cosim

#endif // COSIM_ANALYTICAL_LINK_H
