/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_MATCHER_H
#define COSIM_MESSAGE_MATCHER_H

#include "network/network-api.h"
#include "support/flat-map.h"
#include "support/slot-pool.h"

#include <cstdint>

namespace cosim
{

/**
 * Matches arrived messages with posted receives.
 *
 * A message and a receive match if source, destination and tag are equal. If several have the same
 * key, they match in the order in which they came.
 */
class MessageMatcher
{
  public:
    /**
     * Post a receive. If its message has already arrived, the callback is scheduled as an event at
     * the current time.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes expected message size [bytes]
     * @param tag message tag
     * @param received called once when the message has arrived; may be empty
     * @throws std::invalid_argument if the message that arrived for this receive has another size
     */
    void Post(Rank src, Rank dst, uint64_t bytes, uint64_t tag, NetworkApi::Callback received);

    /**
     * Process the arrival of a message.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes message size [bytes]
     * @param tag message tag
     * @throws std::invalid_argument if the receive that was posted for it expects another size
     */
    void Arrive(Rank src, Rank dst, uint64_t bytes, uint64_t tag);

  private:
    /// The key by which messages and receives match.
    struct Key
    {
        Rank src;
        Rank dst;
        uint64_t tag;

        bool operator==(const Key&) const = default;

        uint64_t Hash() const
        {
            return MixHash(uint64_t{src} << 32 | dst, tag);
        }
    };

    /// A receive or a message that waits for its match.
    struct Waiting
    {
        uint64_t bytes;
        NetworkApi::Callback received; //!< of a receive
        uint32_t next;                 //!< slot of the next one with the same key
    };

    /// All that wait with a key, in the order in which they came: receives, or messages.
    struct Queue
    {
        uint32_t first{NONE};
        uint32_t last{NONE};
        bool hasReceives{false};
    };

    static constexpr uint32_t NONE = UINT32_MAX;

    void Push(Queue& queue, uint64_t bytes, NetworkApi::Callback received);
    NetworkApi::Callback Pop(const Key& key, Queue& queue, uint64_t expected, uint64_t arrived);

    FlatMap<Key, Queue> m_queues;
    SlotPool<Waiting> m_waiting;
};

} // namespace cosim

#endif // COSIM_MESSAGE_MATCHER_H
