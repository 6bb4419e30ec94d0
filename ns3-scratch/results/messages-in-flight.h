/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGES_IN_FLIGHT_H
#define COSIM_MESSAGES_IN_FLIGHT_H

#include "network/network-api.h"
#include "support/flat-map.h"
#include "support/slot-pool.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace cosim
{

/// What tells the messages between ranks apart. Messages with the same key arrive in order.
struct MessageKey
{
    Rank src{0};
    Rank dst{0};
    uint64_t tag{0};

    bool operator==(const MessageKey&) const = default;

    uint64_t Hash() const
    {
        return MixHash(static_cast<uint64_t>(src) << 32 | dst, tag);
    }
};

/**
 * What an observer remembers of each message that is on its way.
 *
 * @tparam T what it remembers
 */
template <typename T>
class MessagesInFlight
{
  public:
    /// Remember something of a message that is sent.
    void Push(const MessageKey& key, T value)
    {
        const uint32_t slot = m_items.Take();
        m_items[slot] = {std::move(value), NONE};
        Queue& queue = m_queues[key];
        if (queue.first == NONE)
        {
            queue.first = slot;
        }
        else
        {
            m_items[queue.last].next = slot;
        }
        queue.last = slot;
    }

    /// @return what was remembered of the earliest message with a key; nothing if there is none
    std::optional<T> Pop(const MessageKey& key)
    {
        Queue* queue = m_queues.Find(key);
        if (queue == nullptr)
        {
            return std::nullopt;
        }
        const uint32_t slot = queue->first;
        std::optional<T> value(std::move(m_items[slot].value));
        queue->first = m_items[slot].next;
        if (queue->first == NONE)
        {
            m_queues.Extract(key);
        }
        m_items.Return(slot);
        return value;
    }

  private:
    static constexpr uint32_t NONE = ~uint32_t{0};

    /// The slots of the messages with a key: a list.
    struct Queue
    {
        uint32_t first{NONE};
        uint32_t last{NONE};
    };

    struct Item
    {
        T value{};
        uint32_t next{NONE};
    };

    FlatMap<MessageKey, Queue> m_queues;
    SlotPool<Item> m_items;
};

} // namespace cosim

#endif // COSIM_MESSAGES_IN_FLIGHT_H
