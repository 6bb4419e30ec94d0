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
 * A priority queue for a clock that never goes back: a key is never smaller than the last one that
 * was popped. Equal keys come out in the order in which they went in.
 *
 * It is a radix heap: a bucket holds the keys whose highest bit that differs from the last popped
 * key is the same. A key moves down at most once a bit, so pushing and popping are a few
 * sequential writes, however many wait.
 */
template <typename T>
class RadixQueue
{
  public:
    /// The key of an empty queue's front; keys are smaller than 2⁶³.
    static constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();

    /// @return the smallest key, or NEVER
    uint64_t GetFirstKey() const
    {
        return m_filled == 0 ? NEVER : m_buckets[First()].least;
    }

    /**
     * @param key not smaller than the last popped
     * @param item what to keep
     */
    void Push(uint64_t key, const T& item)
    {
        Put({key, item});
    }

    /// @return the oldest item with the smallest key, removed; there must be one
    T Pop()
    {
        Bucket& now = m_buckets[0];
        if ((m_filled & 1) == 0)
        {
            Bucket& next = m_buckets[First()];
            m_filled &= m_filled - 1;
            m_last = next.least;
            for (const Entry& entry : next.entries)
            {
                Put(entry);
            }
            next.entries.clear();
            next.least = NEVER;
        }
        const T item = now.entries[m_popped].item;
        if (++m_popped == now.entries.size())
        {
            now.entries.clear();
            now.least = NEVER;
            m_popped = 0;
            m_filled &= ~uint64_t{1};
        }
        return item;
    }

    /// Let the clock start again; the queue must be empty.
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

    struct Bucket
    {
        std::vector<Entry> entries;
        uint64_t least{NEVER};
    };

    std::size_t First() const
    {
        return static_cast<std::size_t>(std::countr_zero(m_filled));
    }

    void Put(const Entry& entry)
    {
        const auto index = static_cast<std::size_t>(std::bit_width(entry.key ^ m_last));
        Bucket& bucket = m_buckets[index];
        bucket.entries.push_back(entry);
        bucket.least = std::min(bucket.least, entry.key);
        m_filled |= uint64_t{1} << index;
    }

    std::array<Bucket, 64> m_buckets;
    uint64_t m_filled{0};    //!< a bit for every bucket that holds something
    uint64_t m_last{0};      //!< the last popped key
    std::size_t m_popped{0}; //!< entries of the first bucket that were popped
};

} // namespace cosim

#endif // COSIM_RADIX_QUEUE_H
