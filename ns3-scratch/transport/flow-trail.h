/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_TRAIL_H
#define COSIM_FLOW_TRAIL_H

#include "transport/packet-counts.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

class FlowSender;
struct FlowEnds;

/// A measured round trip of a flow.
struct RoundTrip
{
    int64_t atPs;      //!< when the acknowledgment arrived, since the start of the trail
    uint32_t latestPs; //!< since the last packet that it acknowledges was sent
    uint32_t oldestPs; //!< since the first one was sent
};

/**
 * What a flow did from a time of silence to the next one, so that another flow in the same state
 * can be taken to where it would be if it had done the same.
 *
 * A flow is *silent* if everything that was appended to its stream is acknowledged. Then it does
 * nothing by itself.
 */
class FlowTrail
{
  public:
    virtual ~FlowTrail() = default;

    /**
     * @param sender a silent sender
     * @return true if its flow does the same as this one, if the same happens to it. While the
     * trail has no end, only a flow in the very same state is known to
     */
    virtual bool Fits(const FlowSender& sender) const = 0;

    /// Note that bytes of the flow were acknowledged, after the round trip of the last of them.
    virtual void OnAcked(uint64_t bytes) = 0;

    /**
     * End the trail.
     *
     * @param sender the sender of the flow, which is silent again
     * @return false if no other flow can be taken along the trail
     */
    virtual bool End(const FlowSender& sender) = 0;

    /// @return the packets that both ends of the flow have sent since the start of the trail
    virtual PacketCounts CountPackets(const FlowEnds& ends) const = 0;

    /**
     * Take a flow to the end of the trail, which has one.
     *
     * @param ends the ends of a flow that this trail fits
     * @param startPs when the flow started, on the clock [ps]
     */
    virtual void Advance(const FlowEnds& ends, int64_t startPs) = 0;

    /// @param roundTrip a round trip of the flow, later than those before
    void Add(const RoundTrip& roundTrip)
    {
        m_roundTrips.push_back(roundTrip);
    }

    /// @return the round trips in the order of time
    std::span<const RoundTrip> GetRoundTrips() const
    {
        return m_roundTrips;
    }

    /// Give back the room for further round trips.
    void Shrink()
    {
        m_roundTrips.shrink_to_fit();
    }

    /// @return the memory that it takes, roughly [bytes]
    virtual std::size_t GetBytes() const
    {
        return m_roundTrips.capacity() * sizeof(RoundTrip);
    }

  private:
    std::vector<RoundTrip> m_roundTrips;
};

/// The part of a Transport that takes flows along trails.
class ReplayableTransport
{
  public:
    virtual ~ReplayableTransport() = default;

    /**
     * @param ends both ends of a silent flow
     * @return the start of a trail, or null if the state of the flow cannot be compared with others
     */
    virtual std::unique_ptr<FlowTrail> BeginTrail(const FlowEnds& ends) const = 0;
};

} // namespace cosim

#endif // COSIM_FLOW_TRAIL_H
