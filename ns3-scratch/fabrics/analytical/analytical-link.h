/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ANALYTICAL_LINK_H
#define COSIM_ANALYTICAL_LINK_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A link that carries one message at a time, first come first served, and knows the future: what
 * will come is entered as soon as it is known, in any order.
 *
 * What is entered last may come first. Then the others are carried later, which matters to nobody
 * else as long as they leave the network here: only such messages are *expected*, and can still
 * move. A message that has come, or goes on to another link, is *settled* and does not move.
 */
class AnalyticalLink
{
  public:
    /// A message that leaves the network behind this link.
    struct Visit
    {
        uint64_t arrival;      //!< of its first packet [ps]
        uint64_t transmission; //!< of all of it [ps]
        uint64_t earliest;     //!< it is not carried before, as its last packet comes late [ps]
        uint64_t end;          //!< when it is carried [ps]
        uint64_t sentAt;       //!< by its source [ps]
        uint32_t bundle;       //!< that it belongs to
        uint32_t path;         //!< that it takes
    };

    /// When a message is on the link [ps].
    struct Passage
    {
        uint64_t start;
        uint64_t end;
    };

    /// Expected messages behind which another one is at most put in: further ones come later.
    static constexpr std::size_t MAX_MOVED = 32;

    /**
     * Enter a message that goes on, or that was not expected.
     *
     * @param arrival not before now, nor before that of an earlier call [ps]
     * @param transmission of all of it [ps]
     * @param earliest it is not carried before [ps]
     * @param onMoved called with every expected message that is carried later, and its end before
     * @return when the message is carried
     */
    template <typename OnMoved>
    Passage Settle(uint64_t arrival,
                   uint64_t transmission,
                   uint64_t earliest,
                   const OnMoved& onMoved);

    /**
     * Enter a message that is expected and ends here.
     *
     * @param visit the message; its end is set
     * @param now the time, which moves on [ps]
     * @param onMoved as in Settle
     * @return whether it was entered: false if more than MAX_MOVED messages would come after it
     */
    template <typename OnMoved>
    bool Expect(Visit& visit, uint64_t now, const OnMoved& onMoved);

    /// @return the longest wait of a message that was expected [ps]
    uint64_t GetLongestWait() const
    {
        return m_longestWait;
    }

  private:
    void Advance(uint64_t now);
    void MakeRoom(uint64_t now);
    void Put(Visit& visit, uint64_t end);

    template <typename OnMoved>
    void Move(std::size_t index, uint64_t end, const OnMoved& onMoved);

    template <typename OnMoved>
    bool Insert(Visit& visit, const OnMoved& onMoved);

    /// When a message comes, and when it is carried [ps].
    struct Times
    {
        uint64_t arrival{0};
        uint64_t end{0};
    };

    uint64_t m_free{0};         //!< when what is settled and forgotten is carried [ps]
    Times m_last;               //!< of the queue
    std::vector<Visit> m_queue; //!< what is expected, and some that has come, by arrival
    uint64_t m_longestWait{0};
};

/// Forget what has come by now: it is settled.
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

/// Let the queue have room for one more.
[[gnu::noinline]] inline void
AnalyticalLink::MakeRoom(uint64_t now)
{
    Advance(now);
    m_queue.reserve(std::max<std::size_t>(8, 2 * m_queue.size()));
}

/// What is ahead of a message ends then.
inline void
AnalyticalLink::Put(Visit& visit, uint64_t end)
{
    const uint64_t start = std::max(visit.arrival, end);
    m_longestWait = std::max(m_longestWait, start - visit.arrival);
    visit.end = std::max(start + visit.transmission, visit.earliest);
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
    if (!m_queue.empty())
    {
        Move(0, m_free, onMoved);
    }
    return {start, m_free};
}

template <typename OnMoved>
bool
AnalyticalLink::Expect(Visit& visit, uint64_t now, const OnMoved& onMoved)
{
    // The last one is at hand; most messages come after it.
    if (m_queue.empty() || m_last.arrival <= now)
    {
        m_free = m_queue.empty() ? m_free : m_last.end;
        m_queue.clear();
        Put(visit, m_free);
    }
    else if (m_last.arrival <= visit.arrival)
    {
        Put(visit, m_last.end);
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
    return true;
}

template <typename OnMoved>
[[gnu::noinline]] bool
AnalyticalLink::Insert(Visit& visit, const OnMoved& onMoved)
{
    std::size_t index = m_queue.size();
    while (index > 0 && m_queue[index - 1].arrival > visit.arrival)
    {
        if (m_queue.size() - index == MAX_MOVED)
        {
            return false;
        }
        --index;
    }
    Put(visit, index == 0 ? m_free : m_queue[index - 1].end);
    m_queue.insert(m_queue.begin() + static_cast<std::ptrdiff_t>(index), visit);
    Move(index + 1, visit.end, onMoved);
    return true;
}

/// What is ahead of an expected message ends then: carry it and those after it later.
template <typename OnMoved>
[[gnu::noinline]] void
AnalyticalLink::Move(std::size_t index, uint64_t end, const OnMoved& onMoved)
{
    for (; index < m_queue.size(); ++index)
    {
        Visit& visit = m_queue[index];
        const uint64_t old = visit.end;
        Put(visit, end);
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
