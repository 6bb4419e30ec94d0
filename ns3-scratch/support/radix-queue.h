/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RADIX_QUEUE_H
#define COSIM_RADIX_QUEUE_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cosim
{

/**
 * A priority queue for times of a clock that never goes back: a new key must not be smaller than
 * the last popped key. Equal keys leave in the order in which they were pushed.
 *
 * It is a radix heap. A bucket holds the keys that share the highest bit in which they differ from
 * the last popped key. A key moves to a lower bucket at most once per bit, so push and pop take a
 * few sequential writes, regardless of the number of keys.
 */
template <typename T>
class RadixQueue
{
  public:
    /// Numbers of items with the same key; see Pop.
    static constexpr std::size_t NEAR = 16;
    static constexpr std::size_t NEXT = 6;

    /// The first key of an empty queue. All keys must be smaller than 2⁶³.
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /// @return the smallest key, or NEVER
    uint64_t GetFirstKey() const
    {
        return m_least;
    }

    /**
     * @param key the key; must not be smaller than the last popped key
     * @param item the item
     */
    void Push(uint64_t key, const T& item)
    {
        m_least = std::min(m_least, key);
        Put({key, item});
    }

    /// @return the oldest item with the smallest key, which is removed; the queue must not be empty
    T Pop()
    {
        return Pop([](const T& /* item */, std::size_t /* others */) {});
    }

    /**
     * As Pop.
     *
     * @param approach called with each item that comes closer, and an upper bound of the number of
     * queued items that leave before it
     */
    template <typename Approach>
    T Pop(const Approach& approach)
    {
        Bucket& now = m_buckets[0];
        if ((m_filled & 1) == 0)
        {
            Bucket& next = m_buckets[First()];
            m_filled &= m_filled - 1;
            m_last = m_least;
            for (const Entry& entry : next)
            {
                Put(entry);
                approach(entry.item, next.size());
            }
            next.clear();
        }
        for (const std::size_t before : {NEAR, NEXT})
        {
            if (m_popped + before < now.size())
            {
                approach(now[m_popped + before].item, before);
            }
        }
        const T item = now[m_popped].item;
        if (++m_popped == now.size())
        {
            now.clear();
            m_popped = 0;
            m_filled &= ~uint64_t{1};
            m_least = FindLeast();
        }
        return item;
    }

    /// Accept any key again. The queue must be empty.
    void Restart()
    {
        m_last = 0;
    }

  private:
    struct Entry
    {
        uint64_t key;
        T item;
    };

    using Bucket = std::vector<Entry>;

    std::size_t First() const
    {
        return static_cast<std::size_t>(std::countr_zero(m_filled));
    }

    uint64_t FindLeast() const
    {
        uint64_t least = NEVER;
        if (m_filled != 0)
        {
            for (const Entry& entry : m_buckets[First()])
            {
                least = std::min(least, entry.key);
            }
        }
        return least;
    }

    void Put(const Entry& entry)
    {
        const auto index = static_cast<std::size_t>(std::bit_width(entry.key ^ m_last));
        m_buckets[index].push_back(entry);
        m_filled |= uint64_t{1} << index;
    }

    std::array<Bucket, 64> m_buckets;
    uint64_t m_filled{0};    //!< one bit for each bucket that is not empty
    uint64_t m_last{0};      //!< last popped key
    uint64_t m_least{NEVER}; //!< smallest key
    std::size_t m_popped{0}; //!< number of entries of the first bucket that were popped
};

} // namespace cosim

#endif // COSIM_RADIX_QUEUE_H
