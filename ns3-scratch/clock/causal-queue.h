/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CAUSAL_QUEUE_H
#define COSIM_CAUSAL_QUEUE_H

#include "clock/event-origin.h"

#include "ns3/event-impl.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
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
    /// The time of the next event of an empty queue.
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    CausalQueue()
    {
        m_leastPs.fill(NEVER);
    }

    /// An event in the queue. It is an event of ns-3 or of a model.
    class Item
    {
      public:
        /**
         * @param time its time [ps]
         * @param place its origin
         * @param event the event of a model
         * @param data what the event reads first, or null; it is fetched into the cache in time
         */
        Item(int64_t time, const EventOrigin& place, CausalEvent& event, const void* data)
            : origin(place),
              timePs(time),
              m_event(reinterpret_cast<uintptr_t>(&event) | OWN),
              m_rest(reinterpret_cast<uintptr_t>(data))
        {
        }

        /**
         * @param time its time [ps]
         * @param place its origin
         * @param event the event of ns-3
         * @param uid ns-3's id of the event; 0 if no ns3::EventId refers to it
         * @param context ns-3's execution context
         */
        Item(int64_t time,
             const EventOrigin& place,
             ns3::EventImpl* event,
             uint32_t uid,
             uint32_t context)
            : origin(place),
              timePs(time),
              m_event(reinterpret_cast<uintptr_t>(event)),
              m_rest(uint64_t{uid} << 32 | context)
        {
        }

        /// Make a copy. The time is that of the other item.
        Item(int64_t /* time */, const Item& other)
            : Item(other)
        {
        }

        Item(const Item&) = default;
        Item& operator=(const Item&) = default;

        /// @return the event of a model, or null
        CausalEvent* GetOwn() const
        {
            return (m_event & OWN) != 0 ? reinterpret_cast<CausalEvent*>(m_event & ~OWN) : nullptr;
        }

        /// @return the event of ns-3; only if GetOwn returns null
        ns3::EventImpl* GetImpl() const
        {
            return reinterpret_cast<ns3::EventImpl*>(m_event);
        }

        /// @return ns-3's id of the event; 0 if no ns3::EventId refers to it
        uint32_t GetUid() const
        {
            return (m_event & OWN) != 0 ? 0 : static_cast<uint32_t>(m_rest >> 32);
        }

        /// @return ns-3's execution context; only if GetOwn returns null
        uint32_t GetContext() const
        {
            return static_cast<uint32_t>(m_rest);
        }

        /// Fetch what the event reads into the cache.
        void Prefetch() const
        {
            if (const CausalEvent* own = GetOwn(); own != nullptr)
            {
                __builtin_prefetch(own, 1);
                __builtin_prefetch(reinterpret_cast<const void*>(m_rest), 1);
            }
        }

        EventOrigin origin;
        int64_t timePs;

      private:
        static constexpr uintptr_t OWN = 1; //!< in m_event, whose lowest bit is free

        uintptr_t m_event;
        uint64_t m_rest; //!< the data of an event of a model; uid and context of an event of ns-3
    };

    /// @return true if the queue is empty
    bool IsEmpty() const
    {
        return m_filled == 0;
    }

    /// @return the time of the next event, or NEVER
    int64_t GetFirstTimePs() const
    {
        return m_filled == 0 ? NEVER
                             : m_leastPs[static_cast<std::size_t>(std::countr_zero(m_filled))];
    }

    /// Add an event. The arguments are those of Item.
    template <typename... Arguments>
    void Push(int64_t timePs, Arguments&&... arguments)
    {
        const std::size_t index = GetBucket(timePs);
        // Make the item in its place: the processor waits when it must copy what it has just
        // written in parts.
        m_buckets[index].emplace_back(timePs, std::forward<Arguments>(arguments)...);
        m_leastPs[index] = std::min(m_leastPs[index], timePs);
        m_filled |= uint64_t{1} << index;
        if (index == 0)
        {
            SortLast();
        }
    }

    /// Move all events of another queue into this one. None is earlier than the last popped event,
    /// but they may be earlier than the next one.
    void Take(CausalQueue& other);

    /// @return the next event, valid until the next call; the queue must not be empty
    const Item& GetNext()
    {
        if ((m_filled & 1) == 0)
        {
            Refill();
        }
        return m_buckets[0][m_popped];
    }

    /// Remove the event that GetNext has returned.
    void Pop()
    {
        if (++m_popped == m_buckets[0].size())
        {
            Clear(m_buckets[0]);
            m_leastPs[0] = NEVER;
            m_popped = 0;
            m_filled &= ~uint64_t{1};
        }
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

    /// Remove all items of a bucket. A burst of events does not keep memory in each bucket that it
    /// passes through.
    static void Clear(Bucket& bucket)
    {
        constexpr std::size_t KEPT = std::size_t{1} << 14; //!< capacity that a bucket may keep
        bucket.clear();
        if (bucket.capacity() > KEPT)
        {
            bucket.shrink_to_fit();
        }
    }

    void SortLast();
    void Refill();

    /// Bucket i has the events whose time differs from m_lastPs in bit i - 1 and in no higher bit.
    /// Bucket 0 is sorted.
    std::array<Bucket, 64> m_buckets;
    std::array<int64_t, 64> m_leastPs; //!< per bucket: time of its first event, or NEVER
    uint64_t m_filled{0};              //!< one bit for each bucket that is not empty
    int64_t m_lastPs{0};               //!< a time that no event in the queue precedes
    std::size_t m_popped{0}; //!< number of events at the start of bucket 0 that were popped
};

} // namespace cosim

#endif // COSIM_CAUSAL_QUEUE_H
