/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BUNDLE_LOG_H
#define COSIM_BUNDLE_LOG_H

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cosim
{

/**
 * The messages of bundles, one by one, for those who observe messages: a bundle itself knows only
 * when its last message arrives.
 */
class BundleLog
{
  public:
    /// A message.
    struct Message
    {
        uint32_t path;
        uint64_t bytes;
        uint64_t sentAt;       //!< [ps]
        uint64_t arrivesAt{0}; //!< as far as is known; 0: not at all [ps]
    };

    /**
     * @param bundle a bundle
     * @param message a message of it; it is not known when it arrives
     */
    void Add(uint32_t bundle, const Message& message);

    /**
     * It is known when a message arrives.
     *
     * @param bundle the bundle that it belongs to
     * @param message the message
     */
    void Place(uint32_t bundle, const Message& message);

    /**
     * A message whose arrival is known arrives later. Those before it on its path were postponed
     * already, if they had to be.
     *
     * @param bundle the bundle that it belongs to
     * @param path its path
     * @param before when it would have arrived [ps]
     * @param at when it arrives [ps]
     */
    void Postpone(uint32_t bundle, uint32_t path, uint64_t before, uint64_t at);

    /**
     * All messages of a bundle have arrived: forget them.
     *
     * @param bundle the bundle
     * @return its messages, by arrival
     */
    std::vector<Message> Take(uint32_t bundle);

  private:
    std::unordered_map<uint32_t, std::vector<Message>> m_messages; //!< by bundle
};

} // namespace cosim

#endif // COSIM_BUNDLE_LOG_H
