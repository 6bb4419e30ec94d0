/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_HISTORY_H
#define COSIM_LINK_HISTORY_H

#include "support/ring-buffer.h"
#include "support/state-digest.h"

#include <cstddef>
#include <cstdint>

namespace cosim
{

/**
 * Remembers when messages that are in the queue of a link have arrived, to tell how long a packet
 * had to wait that arrived a little earlier than now.
 */
class LinkHistory
{
  public:
    /**
     * Add a message.
     *
     * @param arrival its arrival; not before that of the message before [ps]
     * @param end end of its transmission [ps]
     * @param transmission its transmission time [ps]
     * @param past messages that left longer than this before `arrival` are forgotten [ps]
     */
    void Add(uint64_t arrival, uint64_t end, uint64_t transmission, uint64_t past)
    {
        while (!m_messages.IsEmpty() && m_messages.Front().end + past <= arrival)
        {
            m_messages.Pop();
        }
        if (m_messages.IsEmpty() || m_messages.Back().arrival != arrival)
        {
            m_messages.Push({arrival, 0, 0});
        }
        Message& last = m_messages.At(m_messages.GetSize() - 1);
        last.end = end;
        last.transmission = transmission;
    }

    /**
     * @param at a time [ps]
     * @param window transmission time of a window [ps]
     * @return the end of the messages that had arrived by then, where the last one counts with at
     * most a window; an earlier time than `at`, or 0, if all had left [ps]
     */
    uint64_t GetFree(uint64_t at, uint64_t window) const
    {
        for (std::size_t i = m_messages.GetSize(); i-- > 0;)
        {
            const Message& message = m_messages.At(i);
            if (message.arrival <= at)
            {
                return GetEnd(message.end, message.transmission, window);
            }
        }
        return 0;
    }

    /// @return the end of a message of which at most a window counts [ps]
    static uint64_t GetEnd(uint64_t end, uint64_t transmission, uint64_t window)
    {
        return end - (transmission > window ? transmission - window : 0);
    }

    /**
     * Add the state at a time, relative to it.
     *
     * @param digest receives the state
     * @param at the time [ps]
     * @param past how long before that time something still matters [ps]
     */
    void AddState(StateDigest& digest, uint64_t at, uint64_t past) const
    {
        for (std::size_t i = 0; i < m_messages.GetSize(); ++i)
        {
            if (m_messages.At(i).end + past > at)
            {
                digest.Add(m_messages.At(i).arrival - at); // modulo 2^64
                digest.Add(m_messages.At(i).end - at);
                digest.Add(m_messages.At(i).transmission);
            }
        }
    }

    /// @param ps by how much the clock is set forward [ps]
    void Shift(uint64_t ps)
    {
        for (std::size_t i = 0; i < m_messages.GetSize(); ++i)
        {
            m_messages.At(i).arrival += ps;
            m_messages.At(i).end += ps;
        }
    }

    /// Forget all messages.
    void Clear()
    {
        m_messages.Clear();
    }

  private:
    /// The last message that arrived at a time.
    struct Message
    {
        uint64_t arrival;      //!< [ps]
        uint64_t end;          //!< end of its transmission [ps]
        uint64_t transmission; //!< its transmission time [ps]
    };

    RingBuffer<Message> m_messages;
};

} // namespace cosim

#endif // COSIM_LINK_HISTORY_H
