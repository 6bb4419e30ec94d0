/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAUSAL_QUEUE_H
#define COSIM_CAUSAL_QUEUE_H

#include "clock/event-origin.h"

#include "ns3/event-impl.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * An event that a model owns and can schedule again and again. Compared with an ns3::EventImpl, it
 * is not counted, not cancelled, and needs no memory of its own. It must live as long as the
 * simulation runs.
 */
class CausalEvent
{
  public:
    virtual ~CausalEvent() = default;

    /// Called at the time of the event.
    virtual void Happen() = 0;
};

/**
 * A queue of events that is ordered by time and then by origin. An event must not be earlier than
 * the last popped event.
 *
 * It is a radix heap (see RadixQueue). The events of the earliest time are sorted by origin when
 * their time comes.
 */
class CausalQueue
{
  public:
    /// An event in the queue.
    struct Item
    {
        int64_t timePs;
        EventOrigin origin;
        ns3::EventImpl* event; //!< null for an event of a model
        CausalEvent* own;      //!< null for an event of ns-3
        uint32_t uid;          //!< ns-3's id of the event; 0 if nobody knows it
        uint32_t context;      //!< ns-3's execution context
    };

    /// @return true if the queue is empty
    bool IsEmpty() const
    {
        return m_size == 0;
    }

    /// @param item the event to add
    void Push(const Item& item)
    {
        ++m_size;
        const std::size_t index = GetBucket(item.timePs);
        if (index == 0)
        {
            PushNow(item);
            return;
        }
        m_buckets[index].push_back(item);
        m_filled |= uint64_t{1} << index;
    }

    /// @return the next event, which is removed; the queue must not be empty
    Item Pop()
    {
        if ((m_filled & 1) == 0)
        {
            Refill();
        }
        Bucket& now = m_buckets[0];
        const Item item = now.back();
        now.pop_back();
        m_filled &= ~uint64_t{now.empty()};
        --m_size;
        return item;
    }

    /**
     * Remove an event.
     *
     * @param timePs its time
     * @param uid ns-3's id of it
     * @return true if it was in the queue
     */
    bool Remove(int64_t timePs, uint32_t uid);

  private:
    using Bucket = std::vector<Item>;

    std::size_t GetBucket(int64_t timePs) const
    {
        return static_cast<std::size_t>(std::bit_width(static_cast<uint64_t>(timePs ^ m_lastPs)));
    }

    void PushNow(const Item& item);
    void Refill();

    /// Bucket i has the events whose time differs from m_lastPs in bit i - 1 and in no higher bit.
    /// Bucket 0 is sorted, with the next event at its end.
    std::array<Bucket, 64> m_buckets;
    uint64_t m_filled{0}; //!< one bit for each bucket that is not empty
    int64_t m_lastPs{0};  //!< a time that no event in the queue precedes
    std::size_t m_size{0};
};

} // namespace cosim

#endif // COSIM_CAUSAL_QUEUE_H
