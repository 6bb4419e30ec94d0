/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RUN_OBSERVER_H
#define COSIM_RUN_OBSERVER_H

#include "network/link-change.h"
#include "network/network-api.h"
#include "stream/stream.h"

#include <cstdint>

namespace cosim
{

/// A node of a trace on one of its ranks.
struct NodeEvent
{
    uint64_t timePs;    //!< simulated time [ps]
    Rank rank;          //!< where the node runs
    const Trace* trace; //!< has the node's type, layer, iteration, job …
    uint32_t node;      //!< index of the node in its trace
};

/// A collective at one of its ranks.
struct CollectiveEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank rank;
    const Collective* collective;
};

/// One phase of one chunk of a collective at one of its ranks.
struct ChunkEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank rank;
    const Collective* collective;
    uint32_t chunk;     //!< 0 … Collective::chunks − 1
    uint32_t phase;     //!< of the collective's program
    uint32_t dimension; //!< of the topology, in which the phase takes a slot
};

/// A message.
struct MessageEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank src;        //!< the sending rank
    Rank dst;        //!< the receiving rank
    uint64_t bytes;  //!< its size, without headers [bytes]
    uint64_t tag;    //!< as NetworkApi::SimSend or SimPut got it
    uint32_t route;  //!< which of the paths from src to dst
};

/// A packet at a link.
struct PacketEvent
{
    uint64_t timePs;    //!< simulated time [ps]
    uint32_t link;      //!< index of the link
    uint32_t source;    //!< the node at which the link starts
    uint32_t target;    //!< the node at which it ends
    uint32_t wireBytes; //!< the packet's size, all headers included [bytes]
};

/// The TCP connection of one path.
struct FlowEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank src;        //!< the rank that sends the data
    Rank dst;        //!< the rank that receives it
    uint32_t route;  //!< which of the paths from src to dst
};

/**
 * Hears what happens in a run. Recorders, timelines and time series derive from it.
 *
 * An observer overrides GetKinds and the methods of these kinds. It must not call back into the
 * simulation. References and pointers are valid during the call; a Trace and a Collective as long
 * as the run.
 *
 * Events come in the order of simulated time, which counts from the moment at which the fabric was
 * ready. Within one moment a cause comes before its effects: a COLLECTIVE node begins before its
 * collective, and that before its chunks; they end in the opposite order. A message is sent before
 * its packets are, and delivered before its receiver acts on it. The messages of a bundle are the
 * exception: BundleNetwork gets them before the injection latency has passed, and looks at the
 * bundle when the last of them has arrived. Their events come then, with the times at which the
 * messages are sent and delivered. A run that does not complete can leave things without an end.
 */
class RunObserver
{
  public:
    /// The kinds of events: each is a bit of GetKinds.
    enum Kind : uint32_t
    {
        NODES = 1 << 0,
        COLLECTIVES = 1 << 1,
        CHUNKS = 1 << 2,
        MESSAGES = 1 << 3,
        LOSSES = 1 << 4, //!< drops, retransmissions and timeouts
        LINKS = 1 << 5,
    };

    static constexpr uint32_t KINDS = 6; //!< how many kinds there are

    virtual ~RunObserver() = default;

    /// @return the kinds that this observer hears, joined by |
    virtual uint32_t GetKinds() const = 0;

    /// @param event a node that starts: its dependencies are done, and a COMPUTE node has its turn
    virtual void OnNodeBegun(const NodeEvent& /* event */)
    {
    }

    /// @param event a node that is done
    virtual void OnNodeEnded(const NodeEvent& /* event */)
    {
    }

    /// @param event a collective that a rank issues
    virtual void OnCollectiveBegun(const CollectiveEvent& /* event */)
    {
    }

    /// @param event a collective of which a rank has done the last step
    virtual void OnCollectiveEnded(const CollectiveEvent& /* event */)
    {
    }

    /// @param event what takes a slot at a rank; the rank's slots are taken in the same moment
    virtual void OnChunkBegun(const ChunkEvent& /* event */)
    {
    }

    /// @param event what gives its slot back: the rank has done its steps
    virtual void OnChunkEnded(const ChunkEvent& /* event */)
    {
    }

    /// @param event a message that is handed to the fabric
    virtual void OnMessageSent(const MessageEvent& /* event */)
    {
    }

    /// @param event a message of which the last byte is delivered in order
    virtual void OnMessageDelivered(const MessageEvent& /* event */)
    {
    }

    /// @param event a packet that would overrun the egress queue of a link, and is lost
    virtual void OnPacketDropped(const PacketEvent& /* event */)
    {
    }

    /**
     * @param event the flow that sends a packet again
     * @param payloadBytes what the packet carries, without headers [bytes]
     */
    virtual void OnPacketRetransmitted(const FlowEvent& /* event */, uint32_t /* payloadBytes */)
    {
    }

    /// @param event a flow whose retransmission timer expires
    virtual void OnFlowTimedOut(const FlowEvent& /* event */)
    {
    }

    /// @param change a change of the links that begins now, with a pause of all flows
    virtual void OnLinkPauseBegun(const LinkChange& /* change */)
    {
    }

    /// @param timePs now: the new links are there, and the pause ends [ps]
    virtual void OnLinksChanged(uint64_t /* timePs */)
    {
    }
};

} // namespace cosim

#endif // COSIM_RUN_OBSERVER_H
