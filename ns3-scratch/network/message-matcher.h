/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_MATCHER_H
#define COSIM_MESSAGE_MATCHER_H

#include "network/network-api.h"
#include "support/ring-buffer.h"

#include <cstdint>
#include <unordered_map>

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
    };

    /// Hash of a Key.
    struct KeyHash
    {
        std::size_t operator()(const Key& key) const noexcept;
    };

    /// A posted receive whose message has not arrived.
    struct Receive
    {
        uint64_t bytes;
        NetworkApi::Callback received;
    };

    /**
     * Receives or messages of one key that wait for a match. At most one of the two lists is not
     * empty.
     */
    struct Waiting
    {
        RingBuffer<Receive> receives;
        RingBuffer<uint64_t> messages; //!< sizes [bytes]
    };

    std::unordered_map<Key, Waiting, KeyHash> m_waiting;
};

} // namespace cosim

#endif // COSIM_MESSAGE_MATCHER_H
