/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_MATCHER_H
#define COSIM_MESSAGE_MATCHER_H

#include "network/network-api.h"

#include <cstdint>
#include <deque>
#include <unordered_map>

namespace cosim
{

/**
 * Matches arrived messages with posted receives by (source, destination, tag), each side in order.
 */
class MessageMatcher
{
  public:
    /**
     * Post a receive. If its message has arrived already, the callback is scheduled at once, as an
     * event of its own.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes the size expected [bytes]
     * @param tag the tag
     * @param received called once on the arrival; may be empty
     * @throws std::invalid_argument if a message of another size has arrived for this receive
     */
    void Post(Rank src, Rank dst, uint64_t bytes, uint64_t tag, NetworkApi::Callback received);

    /**
     * A message arrived.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes its size [bytes]
     * @param tag its tag
     * @throws std::invalid_argument if the receive posted for it expects another size
     */
    void Arrive(Rank src, Rank dst, uint64_t bytes, uint64_t tag);

  private:
    /// What messages and receives are matched by.
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

    /// A receive without its message.
    struct Receive
    {
        uint64_t bytes;
        NetworkApi::Callback received;
    };

    /// What waits under one key: receives or messages, never both.
    struct Waiting
    {
        std::deque<Receive> receives;
        std::deque<uint64_t> messages; //!< sizes
    };

    std::unordered_map<Key, Waiting, KeyHash> m_waiting;
};

} // namespace cosim

#endif // COSIM_MESSAGE_MATCHER_H
