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
 * A first-in first-out queue on a vector. It needs no memory until it is used, and it keeps its
 * memory afterwards.
 *
 * Each flow has such a queue for its messages, and most flows of a fabric are idle at any time. A
 * std::deque would take half a kilobyte for each of them.
 */
template <typename T>
class FifoQueue
{
  public:
    /// @return true if the queue is empty
    bool IsEmpty() const
    {
        return m_head == m_items.size();
    }

    /// @return the oldest item; the queue must not be empty
    T& Front()
    {
        return m_items[m_head];
    }

    /// @return the oldest item; the queue must not be empty
    const T& Front() const
    {
        return m_items[m_head];
    }

    /// @param item the item to append
    void Push(T item)
    {
        if (m_head > 32 && 2 * m_head > m_items.size())
        { // more than half of the vector is unused, so close the gap (amortized constant time)
            m_items.erase(m_items.begin(), m_items.begin() + static_cast<std::ptrdiff_t>(m_head));
            m_head = 0;
        }
        m_items.push_back(std::move(item));
    }

    /// @return the oldest item, which is removed; the queue must not be empty
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
