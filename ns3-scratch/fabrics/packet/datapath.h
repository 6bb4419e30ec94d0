/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DATAPATH_H
#define COSIM_DATAPATH_H

#include "clock/causal-simulator.h"
#include "fabrics/packet/handshake-plan.h"
#include "network/link-control.h"
#include "network/link-summary.h"
#include "network/live-links.h"
#include "network/network-statistics.h"
#include "network/path-index.h"
#include "network/transport-facts.h"
#include "network/zones.h"
#include "transport/flow-observer.h"
#include "transport/flow-trail.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

namespace cosim
{

/// Bytes to append to the stream of a flow: a message.
struct Submission
{
    FlowId flow;
    bool isAwaited; //!< true if it matters when the last byte is acknowledged
    uint64_t bytes; //!< at least 1
};

/// What a datapath tells the fabric that it works for.
class DatapathClient : public FlowObserver
{
  public:
    /**
     * Called when a packet is lost in the network.
     *
     * @param link the link that lost it, or whose egress queue had no room for it
     * @param wireBytes packet size, all headers included [bytes]
     */
    virtual void OnDropped(uint32_t link, uint32_t wireBytes) = 0;

    /**
     * Called when a port stops or goes on to send a traffic class, because a switch says so.
     *
     * @param link the link that the port feeds
     * @param trafficClass the class
     * @param hops how many pauses in a row have led to this one, with it
     * @param isPaused true if it stops
     */
    virtual void OnPortPause(uint32_t /* link */,
                             uint8_t /* trafficClass */,
                             uint32_t /* hops */,
                             bool /* isPaused */)
    {
    }

    /// @param failure why the run cannot go on
    virtual void OnFailure(const std::string& /* failure */)
    {
    }

    /// @param bytes one entry per flow; the call adds what was submitted and is not delivered
    virtual void AddUndelivered(std::vector<uint64_t>& bytes) const = 0;

    /**
     * Called late with the round trips of packets that were not simulated, because they did what
     * others had done.
     *
     * @param flow id of the flow
     * @param startPs the time from which the round trips count, on the clock [ps]
     * @param roundTrips the round trips
     */
    virtual void OnReplayed(FlowId flow,
                            int64_t startPs,
                            std::span<const RoundTrip> roundTrips) = 0;
};

/// What a datapath works with. All of it outlives the datapath.
struct DatapathSetup
{
    const Topology& topology; //!< links and paths at the start of the run
    const Settings& settings;
    const PacketFormats& formats;
    const PathIndex& paths;
    LiveLinks& links; //!< the links and paths as they are now
    const Zones& zones;
    CausalSimulator& clock;
};

/// The part of a Datapath that takes silent flows along trails (see FlowTrail).
class ReplayableDatapath
{
  public:
    virtual ~ReplayableDatapath() = default;

    /// See ReplayableTransport::BeginTrail.
    virtual std::unique_ptr<FlowTrail> BeginTrail(FlowId flow) = 0;

    /// See FlowTrail::CountPackets.
    virtual PacketCounts CountPackets(FlowId flow, const FlowTrail& trail) = 0;

    /// See FlowTrail::End.
    virtual bool EndTrail(FlowId flow, FlowTrail& trail) = 0;

    /// See FlowTrail::Fits.
    virtual bool Fits(FlowId flow, const FlowTrail& trail) = 0;

    /// See FlowTrail::Advance.
    virtual void Advance(FlowId flow, FlowTrail& trail, int64_t startPs) = 0;

    /// @return the longest queue of a link since the last call, which no longer counts [bytes]
    virtual uint64_t TakeLongestQueue(uint32_t link) = 0;
};

/**
 * Carries the byte streams of flows from rank to rank as packets, and tells its client what
 * happens to them. A flow is a connection from one rank to another; each path of the topology has
 * one, and the flow's id is the index of the path.
 */
class Datapath
{
  public:
    virtual ~Datapath() = default;

    /**
     * Build the network and open all connections. This may run the simulator up to the end of the
     * handshakes.
     *
     * @param handshakes when the connections open; must outlive the datapath
     */
    virtual void Open(const HandshakePlan& handshakes) = 0;

    /**
     * Append to the streams of flows.
     *
     * @param submissions what is appended now, in this order
     */
    virtual void Submit(std::span<const Submission> submissions) = 0;

    /**
     * Let a flow send nothing any more. Its packets that are on links are lost at the end of their
     * path, and the client hears nothing more of the flow.
     *
     * @throws std::invalid_argument if this datapath cannot do so
     */
    virtual void Abandon(FlowId /* flow */)
    {
        throw std::invalid_argument("this datapath cannot drop connections");
    }

    /// The run is over: count what has happened up to now.
    virtual void Finish()
    {
    }

    /// Count what has happened up to now, so that all counters and states can be read.
    virtual void Update()
    {
    }

    /// @return the bytes that are delivered, and of which the client hears later
    virtual uint64_t CountUntold() const
    {
        return 0;
    }

    /// @return the congestion window of a flow; 0 before its first message [bytes]
    virtual uint32_t GetWindow(FlowId flow) const = 0;

    /// @return the rate of a flow's queue pair; 0: none, or before its first message [bit/s]
    virtual double GetRateBps(FlowId /* flow */) const
    {
        return 0;
    }

    /// @return the packets that all flows have sent since Open
    virtual PacketCounts GetSent() const = 0;

    /// @return the counters of a link since Open
    virtual LinkCounters GetLink(uint32_t link) const = 0;

    /// @param statistics receives what only this datapath counts
    virtual void AddStatistics(NetworkStatistics& /* statistics */) const
    {
    }

    /// @return the object that changes the links during a run, or null if they cannot change
    virtual LinkControl* GetLinkControl()
    {
        return nullptr;
    }

    /// @return the object that takes flows along trails, or null if there is none
    virtual ReplayableDatapath* GetReplayable()
    {
        return nullptr;
    }
};

/// Makes the datapath of a fabric. The client outlives it.
using DatapathMaker =
    std::function<std::unique_ptr<Datapath>(const DatapathSetup&, DatapathClient& client)>;

} // namespace cosim

#endif // COSIM_DATAPATH_H
