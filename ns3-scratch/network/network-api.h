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
 * Receives the messages sent with NetworkApi::SimPut.
 *
 * The system layer implements it once; a message then costs no callback object and no matching.
 */
class ArrivalHandler
{
  public:
    virtual ~ArrivalHandler() = default;

    /**
     * The last byte of a message was delivered in order.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes the message's size [bytes]
     * @param tag the tag given to SimPut
     */
    virtual void OnArrival(Rank src, Rank dst, uint64_t bytes, uint64_t tag) = 0;
};

/**
 * The network as the system layer sees it: two-sided messages between ranks, and the clock.
 *
 * The names are ASTRA-sim's. ns-3's event scheduler is the one master clock; every call happens
 * inside one of its events (or before it runs). Messages of one ordered pair of ranks are delivered
 * in the order in which they were sent, if they take the same route; a send and a receive match by
 * (src, dst, tag), in order where a tag repeats.
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
     * @param dst the receiving rank, another one
     * @param bytes the size [bytes]; 0 is carried as one byte on the wire
     * @param tag matches the receive
     * @param route which of the paths from the one rank to the other, from 0
     * @param sent called when the last byte was acknowledged; may be empty
     */
    virtual void SimSend(Rank src,
                         Rank dst,
                         uint64_t bytes,
                         uint64_t tag,
                         uint32_t route,
                         Callback sent) = 0;

    /**
     * Receive a message.
     *
     * @param src the sending rank
     * @param dst the receiving rank
     * @param bytes the size expected [bytes]; another size than the sender's is an error
     * @param tag matches the send
     * @param received called when the last byte was delivered in order, or at once (as an event
     * of its own) if that was before this call; may be empty
     */
    virtual void SimRecv(Rank src, Rank dst, uint64_t bytes, uint64_t tag, Callback received) = 0;

    /**
     * Send a message whose arrival goes to the ArrivalHandler: no receive is posted for it.
     *
     * @param src the sending rank
     * @param dst the receiving rank, another one
     * @param bytes the size [bytes]; 0 is carried as one byte on the wire
     * @param tag handed to the handler
     * @param route which of the paths from the one rank to the other, from 0
     */
    virtual void SimPut(Rank src, Rank dst, uint64_t bytes, uint64_t tag, uint32_t route) = 0;

    /**
     * @param handler called on each arrival of a message sent with SimPut; not owned
     */
    virtual void SetArrivalHandler(ArrivalHandler* handler) = 0;

    /// @return the same network's interface for bundles of messages, or null if it has none
    virtual BundleNetwork* GetBundleNetwork()
    {
        return nullptr;
    }

    /**
     * Call back later.
     *
     * @param delay from now, not negative
     * @param callback what to call
     */
    virtual void SimSchedule(ns3::Time delay, Callback callback) = 0;

    /// @return the time since the fabric was ready
    virtual ns3::Time SimGetTime() const = 0;

    /// @return the number of ranks
    virtual uint32_t SimCommSize() const = 0;

    /// End the run: no later event is executed.
    virtual void SimFinish() = 0;
};

} // namespace cosim

#endif // COSIM_NETWORK_API_H
