/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RING_BUFFER_H
#define COSIM_RING_BUFFER_H

#include <cstddef>
#include <vector>

namespace cosim
{

/**
 * A first-in first-out queue in one power-of-two array that doubles when full: no allocation once
 * it has its size, whatever passes through.
 */
template <typename T>
class RingBuffer
{
  public:
    /// @return whether nothing is queued
    bool IsEmpty() const
    {
        return m_size == 0;
    }

    /// @return the number of queued items
    std::size_t GetSize() const
    {
        return m_size;
    }

    /// @return the oldest item; there must be one
    const T& Front() const
    {
        return m_items[m_head];
    }

    /// @return the newest item; there must be one
    const T& Back() const
    {
        return m_items[(m_head + m_size - 1) & (m_items.size() - 1)];
    }

    /// @param item what to append
    void Push(const T& item)
    {
        if (m_size == m_items.size())
        {
            Grow();
        }
        m_items[(m_head + m_size) & (m_items.size() - 1)] = item;
        ++m_size;
    }

    /// Remove the oldest item; there must be one.
    void Pop()
    {
        m_head = (m_head + 1) & (m_items.size() - 1);
        --m_size;
    }

    /// Remove the newest item; there must be one.
    void PopBack()
    {
        --m_size;
    }

  private:
    void Grow()
    {
        std::vector<T> items(m_items.empty() ? 8 : 2 * m_items.size());
        for (std::size_t i = 0; i < m_size; ++i)
        {
            items[i] = m_items[(m_head + i) & (m_items.size() - 1)];
        }
        m_items.swap(items);
        m_head = 0;
    }

    std::vector<T> m_items;
    std::size_t m_head{0};
    std::size_t m_size{0};
};

} // namespace cosim

#endif // COSIM_RING_BUFFER_H
