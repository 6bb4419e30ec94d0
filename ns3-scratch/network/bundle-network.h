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

/// Receives the bundles of a BundleNetwork.
class BundleHandler
{
  public:
    virtual ~BundleHandler() = default;

    /**
     * All messages of a bundle have arrived, and its delay has passed.
     *
     * @param tag the tag given to OpenBundle
     */
    virtual void OnBundle(uint64_t tag) = 0;
};

/// A message of a bundle.
struct BundledMessage
{
    Rank dst;        //!< the receiving rank, another than the sending one
    uint32_t bundle; //!< what it belongs to
    uint32_t route;  //!< which of the paths from the one rank to the other, from 0
    uint64_t bytes;  //!< the size [bytes]; 0 is carried as one byte on the wire
};

/**
 * What a NetworkApi can offer beyond single messages, if it knows when messages arrive without
 * looking at packets: to wait for several messages at once, and for what follows them.
 *
 * A *bundle* is a number of messages to one rank of which only the last arrival matters. Telling
 * the network so saves an event for each of the others.
 */
class BundleNetwork
{
  public:
    virtual ~BundleNetwork() = default;

    /// @param handler called for each bundle; not owned
    virtual void SetBundleHandler(BundleHandler* handler) = 0;

    /**
     * @param tag handed to the handler
     * @param messages how many there will be, at least one
     * @param delay from the last arrival to the call of the handler
     * @return the bundle, until its handler is called
     */
    virtual uint32_t OpenBundle(uint64_t tag, uint32_t messages, ns3::Time delay) = 0;

    /**
     * Send messages.
     *
     * @param src the sending rank
     * @param messages the messages, in this order
     * @param delay from now until they are sent; every call in a run gives the same
     */
    virtual void PutIntoBundles(Rank src,
                                std::span<const BundledMessage> messages,
                                ns3::Time delay) = 0;
};

} // namespace cosim

#endif // COSIM_BUNDLE_NETWORK_H
