/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NETWORK_API_H
#define COSIM_NETWORK_API_H

#include "network/bundle-network.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>

namespace cosim
{

/**
 * Receives the messages that were sent with NetworkApi::SimPut.
 *
 * The system layer implements it once. A message sent this way needs no callback object and no
 * matching with a receive.
 */
class ArrivalHandler
{
  public:
    virtual ~ArrivalHandler() = default;

    /**
     * Called when the last byte of a message was delivered in order.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes message size [bytes]
     * @param tag the tag that was given to SimPut
     */
    virtual void OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag) = 0;
};

/**
 * The network as the system layer sees it: two-sided messages between ranks, and the clock.
 *
 * The method names are those of ASTRA-sim. The event scheduler of ns-3 is the only clock. Every
 * call happens inside one of its events, or before it runs. Messages between the same ordered pair
 * of ranks arrive in the order in which they were sent if they take the same route. A send matches
 * a receive with the same source, destination and tag; if a tag repeats, sends and receives match
 * in order.
 */
class NetworkApi
{
  public:
    using Callback = std::function<void()>;

    virtual ~NetworkApi() = default;

    /**
     * Send a message.
     *
     * @param src the sending rank
     * @param dst the receiving rank; must differ from src
     * @param bytes message size [bytes]; a message of 0 bytes takes one byte on the wire
     * @param tag the tag that the receive must have
     * @param route index of the path among the paths from src to dst, from 0
     * @param sent called when the last byte is acknowledged; may be empty
     */
    virtual void SimSend(Rank src,
                         Rank dst,
                         uint64_t bytes,
                         uint64_t tag,
                         uint32_t route,
                         Callback sent) = 0;

    /**
     * Post a receive for a message.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes the expected message size [bytes]; must equal the size that the sender gives
     * @param tag the tag that the send must have
     * @param received called when the last byte is delivered in order. If that happened before this
     * call, an event at the current time calls it. May be empty.
     */
    virtual void SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received) = 0;

    /**
     * Send a message whose arrival is reported to the ArrivalHandler. No receive is posted for it.
     *
     * @param src the sending rank
     * @param dst the receiving rank; must differ from src
     * @param bytes message size [bytes]; a message of 0 bytes takes one byte on the wire
     * @param tag value that is passed to the handler
     * @param route index of the path among the paths from src to dst, from 0
     */
    virtual void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) = 0;

    /**
     * @param handler called when a message that was sent with SimPut arrives; not owned
     */
    virtual void SetArrivalHandler(ArrivalHandler* handler) = 0;

    /// @return the interface of this network for bundles of messages, or null if it has none
    virtual BundleNetwork* GetBundleNetwork()
    {
        return nullptr;
    }

    /**
     * Call a function after a delay.
     *
     * @param delay time from now; must not be negative
     * @param callback the function to call
     */
    virtual void SimSchedule(ns3::Time delay, Callback callback) = 0;

    /// @return the simulated time since the fabric was ready
    virtual ns3::Time SimGetTime() const = 0;

    /// @return the number of ranks
    virtual uint32_t SimCommSize() const = 0;

    /// End the run. The simulator executes no later event.
    virtual void SimFinish() = 0;
};

} // namespace cosim

#endif // COSIM_NETWORK_API_H
