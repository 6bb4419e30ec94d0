/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FIFO_QUEUE_H
#define COSIM_FIFO_QUEUE_H

#include <cstddef>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * A first-in first-out queue on a vector: no memory while empty, none given back while in use.
 *
 * A flow has one for its messages, and most of a fabric's flows are idle at any moment; a
 * std::deque would hold half a kilobyte for each of them.
 */
template <typename T>
class FifoQueue
{
  public:
    /// @return whether nothing is queued
    bool IsEmpty() const
    {
        return m_head == m_items.size();
    }

    /// @return the oldest item; there must be one
    T& Front()
    {
        return m_items[m_head];
    }

    /// @param item what to append
    void Push(T item)
    {
        if (m_head > 32 && 2 * m_head > m_items.size())
        { // more than half is spent: close up (amortised constant)
            m_items.erase(m_items.begin(), m_items.begin() + static_cast<std::ptrdiff_t>(m_head));
            m_head = 0;
        }
        m_items.push_back(std::move(item));
    }

    /// @return the oldest item, removed; there must be one
    T Pop()
    {
        T item = std::move(m_items[m_head]);
        if (++m_head == m_items.size())
        {
            m_items.clear();
            m_head = 0;
        }
        return item;
    }

  private:
    std::vector<T> m_items;
    std::size_t m_head{0};
};

} // namespace cosim

#endif // COSIM_FIFO_QUEUE_H
