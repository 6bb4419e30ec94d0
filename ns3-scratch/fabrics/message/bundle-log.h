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
 * Records the single messages of bundles, for the observers of messages. A bundle itself knows only
 * when its last message arrives.
 */
class BundleLog
{
  public:
    /// A recorded message.
    struct Message
    {
        uint32_t path;
        uint64_t bytes;
        uint64_t sentAt;       //!< time at which it is sent [ps]
        uint64_t arrivesAt{0}; //!< arrival time as known so far; 0: not known yet [ps]
    };

    /**
     * Record a message whose arrival time is not known yet.
     *
     * @param bundle id of the bundle
     * @param message the message
     */
    void Add(uint32_t bundle, const Message& message);

    /**
     * Record the arrival time of a message.
     *
     * @param bundle id of the message's bundle
     * @param message the message, with its arrival time
     */
    void Place(uint32_t bundle, const Message& message);

    /**
     * Move the known arrival time of a message to a later time. If earlier messages of the same
     * path also move, their calls must come first.
     *
     * @param bundle id of the message's bundle
     * @param path path of the message
     * @param before arrival time known so far [ps]
     * @param at new arrival time [ps]
     */
    void Postpone(uint32_t bundle, uint32_t path, uint64_t before, uint64_t at);

    /**
     * Remove the messages of a bundle. Call it when all of them have arrived.
     *
     * @param bundle id of the bundle
     * @return the messages of the bundle, by arrival time
     */
    std::vector<Message> Take(uint32_t bundle);

  private:
    std::unordered_map<uint32_t, std::vector<Message>> m_messages; //!< keyed by bundle
};

} // namespace cosim

#endif // COSIM_BUNDLE_LOG_H
