/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RING_BUFFER_H
#define COSIM_RING_BUFFER_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * A first-in first-out queue in an array whose size is a power of two. The array doubles when it is
 * full. After that growth, the queue allocates no memory, regardless of the number of items that
 * pass through. It holds fewer than 2³² items.
 *
 * An unused queue has no memory: most flows of a fabric are idle at any time. A std::deque would
 * take half a kilobyte for each of them.
 */
template <typename T>
class RingBuffer
{
  public:
    /// @return true if the queue is empty
    bool IsEmpty() const
    {
        return m_size == 0;
    }

    /// @return the number of queued items
    std::size_t GetSize() const
    {
        return m_size;
    }

    /// @return the oldest item; the queue must not be empty
    const T& Front() const
    {
        return m_items[m_head];
    }

    /// As the other Front, for an item that is changed.
    T& Front()
    {
        return m_items[m_head];
    }

    /// As the other Back, for an item that is changed.
    T& Back()
    {
        return m_items[(m_head + m_size - 1) & (m_items.size() - 1)];
    }

    /// @return the newest item; the queue must not be empty
    const T& Back() const
    {
        return At(m_size - 1);
    }

    /**
     * @param index number of items before the item, less than GetSize()
     * @return the item
     */
    const T& At(std::size_t index) const
    {
        return m_items[(m_head + index) & (m_items.size() - 1)];
    }

    /// As the other At, for an item that is changed.
    T& At(std::size_t index)
    {
        return m_items[(m_head + index) & (m_items.size() - 1)];
    }

    /// @param item the item to append
    void Push(T item)
    {
        if (m_size == m_items.size())
        {
            Grow();
        }
        m_items[(std::size_t{m_head} + m_size) & (m_items.size() - 1)] = std::move(item);
        ++m_size;
    }

    /// @return the oldest item, which is removed; the queue must not be empty
    T Pop()
    {
        T item = std::move(m_items[m_head]);
        m_head = (m_head + 1) & static_cast<uint32_t>(m_items.size() - 1);
        --m_size;
        return item;
    }

    /// Remove all items.
    void Clear()
    {
        m_head = 0;
        m_size = 0;
    }

    /// Remove the newest item. The queue must not be empty.
    void PopBack()
    {
        --m_size;
    }

  private:
    void Grow()
    {
        std::vector<T> items(m_items.empty() ? 2 : 2 * m_items.size());
        for (std::size_t i = 0; i < m_size; ++i)
        {
            items[i] = std::move(At(i));
        }
        m_items.swap(items);
        m_head = 0;
    }

    std::vector<T> m_items;
    uint32_t m_head{0};
    uint32_t m_size{0};
};

} // namespace cosim

#endif // COSIM_RING_BUFFER_H
