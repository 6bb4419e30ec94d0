/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RUN_OBSERVER_H
#define COSIM_RUN_OBSERVER_H

#include "network/link-change.h"
#include "network/network-api.h"
#include "stream/stream.h"

#include <cstdint>
#include <span>

namespace cosim
{

/// An event of a trace node at one of its ranks.
struct NodeEvent
{
    uint64_t timePs;    //!< simulated time [ps]
    Rank rank;          //!< rank at which the node runs
    const Trace* trace; //!< trace of the node, with its type, layer, iteration and job
    uint32_t node;      //!< index of the node in its trace
};

/// An event of a collective at one of its ranks.
struct CollectiveEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank rank;
    const Collective* collective;
};

/// An event of one phase of one chunk of a collective, at one of its ranks.
struct ChunkEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank rank;
    const Collective* collective;
    uint32_t chunk;     //!< 0 … Collective::chunks − 1
    uint32_t phase;     //!< phase of the collective's program
    uint32_t dimension; //!< topology dimension in which the phase takes a slot
};

/// The admission of one phase of one chunk of a collective, at the ranks that start it together.
struct AdmissionEvent
{
    uint64_t timePs; //!< simulated time [ps]
    const Collective* collective;
    uint32_t chunk;
    uint32_t phase;
    std::span<const Rank> ranks; //!< the ranks that start; valid during the call
};

/// An event of a step of a collective's program at one of its ranks.
struct StepEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank rank;
    const Collective* collective;
    uint32_t chunk;
    uint64_t step; //!< identifies the step among those in progress
    StepOp op;
};

/// An event of a message that a step sends and another one receives.
struct StepMessageEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank src;
    Rank dst;
    uint64_t bytes; //!< payload [bytes]
    uint64_t tag;   //!< identifies the receiving step among those in progress
    uint32_t route; //!< index of the path among the paths from src to dst
    const Collective* collective;
    uint32_t chunk;
    uint64_t step; //!< the sending step, when it sends; the receiving step, when it receives
};

/// An event of a message.
struct MessageEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank src;        //!< the sending rank
    Rank dst;        //!< the receiving rank
    uint64_t bytes;  //!< message size, without headers [bytes]
    uint64_t tag;    //!< tag that was given to NetworkApi::SimSend or SimPut
    uint32_t route;  //!< index of the path among the paths from src to dst
};

/// An event of a packet at a link.
struct PacketEvent
{
    uint64_t timePs;    //!< simulated time [ps]
    uint32_t link;      //!< index of the link
    uint32_t source;    //!< node at which the link starts
    uint32_t target;    //!< node at which the link ends
    uint32_t wireBytes; //!< packet size, all headers included [bytes]
};

/// A traffic class of a port that a lossless switch pauses, or lets go on.
struct PortPauseEvent
{
    uint64_t timePs;      //!< simulated time [ps]
    uint32_t link;        //!< index of the link that the port feeds
    uint32_t source;      //!< node of the port, at which the link starts
    uint32_t target;      //!< node that pauses it, at which the link ends
    uint8_t trafficClass; //!< the class
    uint32_t hops;        //!< how many pauses in a row have led to this one, with it
};

/// An event of the TCP connection of one path.
struct FlowEvent
{
    uint64_t timePs; //!< simulated time [ps]
    Rank src;        //!< rank that sends the data
    Rank dst;        //!< rank that receives the data
    uint32_t route;  //!< index of the path among the paths from src to dst
};

/**
 * Receives the events of a run. Recorders, timelines and time series derive from this class.
 *
 * An observer overrides GetKinds and the methods of the kinds that it returns. It must not call
 * back into the simulation. References and pointers are valid during the call; those to a Trace or
 * a Collective are valid until the end of the run.
 *
 * Events are reported in the order of simulated time, which counts from the moment at which the
 * fabric was ready. At the same time, a cause is reported before its effects. A COLLECTIVE node
 * begins before its collective, and the collective begins before its chunks; they end in the
 * opposite order. A message is sent before its packets, and delivered before its receiver acts on
 * it.
 *
 * Bundled messages are the exception. A BundleNetwork gets them before the injection latency has
 * passed, and reports them when the last message of the bundle has arrived. Their events carry the
 * correct times at which the messages were sent and delivered.
 *
 * A run that does not complete can leave begun work without an end event.
 */
class RunObserver
{
  public:
    /// The kinds of events. Each is one bit of the value of GetKinds.
    enum Kind : uint32_t
    {
        NODES = 1 << 0,
        COLLECTIVES = 1 << 1,
        CHUNKS = 1 << 2,
        MESSAGES = 1 << 3,
        LOSSES = 1 << 4, //!< drops, retransmissions and timeouts
        LINKS = 1 << 5,
        STEPS = 1 << 6,  //!< admissions, steps and their messages; messages are not bundled then
        PAUSES = 1 << 7, //!< ports that lossless switches pause
    };

    static constexpr uint32_t KINDS = 8; //!< number of kinds

    virtual ~RunObserver() = default;

    /// @return the kinds that this observer wants to receive, joined by |
    virtual uint32_t GetKinds() const = 0;

    /**
     * @param event a node that starts: its dependencies are done, and a COMPUTE node has its turn
     * at its rank
     */
    virtual void OnNodeBegun(const NodeEvent& /* event */)
    {
    }

    /// @param event a node that has finished
    virtual void OnNodeEnded(const NodeEvent& /* event */)
    {
    }

    /// @param event a collective that a rank issues now
    virtual void OnCollectiveBegun(const CollectiveEvent& /* event */)
    {
    }

    /// @param event a collective whose last step a rank has finished
    virtual void OnCollectiveEnded(const CollectiveEvent& /* event */)
    {
    }

    /**
     * @param event a chunk whose phase takes a slot at a rank. All slots of a rank that the phase
     * needs are taken at the same time.
     */
    virtual void OnChunkBegun(const ChunkEvent& /* event */)
    {
    }

    /**
     * @param event a chunk whose phase gives its slot back, because the rank has finished its steps
     */
    virtual void OnChunkEnded(const ChunkEvent& /* event */)
    {
    }

    /**
     * @param event a phase of a chunk that is admitted at some ranks, before the chunk begins at
     * them
     */
    virtual void OnChunkAdmitted(const AdmissionEvent& /* event */)
    {
    }

    /// @param event a step whose dependencies are done and whose messages are there
    virtual void OnStepReady(const StepEvent& /* event */)
    {
    }

    /// @param event a step that is done, before the steps that wait for it become ready
    virtual void OnStepDone(const StepEvent& /* event */)
    {
    }

    /// @param event a message that a step hands to the network, before the step is done
    virtual void OnStepSent(const StepMessageEvent& /* event */)
    {
    }

    /// @param event a message that has arrived, before the receiving step can become ready
    virtual void OnStepReceived(const StepMessageEvent& /* event */)
    {
    }

    /// @param event a message that is handed to the fabric
    virtual void OnMessageSent(const MessageEvent& /* event */)
    {
    }

    /// @param event a message whose last byte is delivered in order
    virtual void OnMessageDelivered(const MessageEvent& /* event */)
    {
    }

    /// @param event a packet that is lost because the egress queue of a link has no room for it
    virtual void OnPacketDropped(const PacketEvent& /* event */)
    {
    }

    /**
     * @param event the flow that retransmits a packet
     * @param payloadBytes payload of the packet, without headers [bytes]
     */
    virtual void OnPacketRetransmitted(const FlowEvent& /* event */, uint32_t /* payloadBytes */)
    {
    }

    /**
     * @param event a flow whose retransmission timer expires
     * @param waitedPs time for which the timer has run [ps]
     */
    virtual void OnFlowTimedOut(const FlowEvent& /* event */, uint64_t /* waitedPs */)
    {
    }

    /// @param event a port that stops to send a traffic class, as the frame has arrived
    virtual void OnPortPaused(const PortPauseEvent& /* event */)
    {
    }

    /// @param event a port that goes on to send a traffic class
    virtual void OnPortResumed(const PortPauseEvent& /* event */)
    {
    }

    /// @param change a reconfiguration that begins now and pauses all flows
    virtual void OnLinkPauseBegun(const LinkChange& /* change */)
    {
    }

    /// @param report an event of the scenario that happens now, or paths that follow it
    virtual void OnNetworkEvent(const NetworkEventReport& /* report */)
    {
    }

    /// @param timePs current time [ps]: the new links are in place, and the pause ends
    virtual void OnLinksChanged(uint64_t /* timePs */)
    {
    }
};

} // namespace cosim

#endif // COSIM_RUN_OBSERVER_H
