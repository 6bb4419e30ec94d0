/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BUNDLE_NETWORK_H
#define COSIM_BUNDLE_NETWORK_H

#include "ns3/nstime.h"

#include <cstdint>
#include <span>

namespace cosim
{

/// Index of a rank: 0 … world size − 1.
using Rank = uint32_t;

/// Receives the completions of the bundles of a BundleNetwork.
class BundleHandler
{
  public:
    virtual ~BundleHandler() = default;

    /**
     * Called once per bundle: all its messages have arrived, and its delay has passed.
     *
     * @param tag the tag that was given to OpenBundle
     */
    virtual void OnBundle(uint64_t tag) = 0;
};

/// One message of a bundle.
struct BundledMessage
{
    Rank dst;        //!< receiving rank; must differ from the sending rank
    uint32_t bundle; //!< the bundle, as returned by OpenBundle
    uint32_t route;  //!< index of the path among the paths of this pair of ranks, from 0
    uint64_t bytes;  //!< message size [bytes]; a message of 0 bytes takes one byte on the wire
};

/**
 * The part of a network that delivers bundles of messages.
 *
 * A *bundle* is a group of messages to one rank whose receiver acts only when the last of them has
 * arrived. The network reports a bundle with a single call, which saves one simulator event for
 * each of the other messages. Only a network that can compute arrival times without simulating
 * packets implements this interface; see NetworkApi::GetBundleNetwork.
 */
class BundleNetwork
{
  public:
    virtual ~BundleNetwork() = default;

    /// @param handler called for each completed bundle; not owned
    virtual void SetBundleHandler(BundleHandler* handler) = 0;

    /**
     * Announce a bundle before its messages are sent.
     *
     * @param tag value that is passed to the handler
     * @param messages number of messages in the bundle, at least 1
     * @param delay time from the arrival of the last message to the call of the handler
     * @return the id of the bundle, valid until its handler is called
     */
    virtual uint32_t OpenBundle(uint64_t tag, uint32_t messages, ns3::Time delay) = 0;

    /**
     * Send messages that belong to open bundles.
     *
     * @param src the sending rank
     * @param messages the messages, in the order in which they are sent
     * @param delay time from now until the messages are sent; the same in every call of a run
     * @param group number of the group of ranks whose collective they belong to
     */
    virtual void PutIntoBundles(Rank src,
                                std::span<const BundledMessage> messages,
                                ns3::Time delay,
                                uint32_t group) = 0;
};

} // namespace cosim

#endif // COSIM_BUNDLE_NETWORK_H
