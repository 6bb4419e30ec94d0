/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TCP_TRAIL_H
#define COSIM_TCP_TRAIL_H

#include "transport/flow-trail.h"
#include "transport/tcp/sender-state.h"
#include "transport/tcp/tcp-sender.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The trail of a TCP flow with ns3::TcpNewReno, without ECN, from which nothing was lost.
 *
 * What such a flow does depends on little of its state. Sequence numbers count from the first byte.
 * In slow start without losses, the congestion window grows by a segment with each ACK of a whole
 * segment, whatever it was, so a flow with a larger window does the same as one whose window never
 * held it up. The estimates of round trips only set the timeout, which is at least the smallest
 * one, so they do nothing while every round trip is shorter than that.
 */
class TcpTrail final : public FlowTrail
{
  public:
    /**
     * @param ends the ends of a flow that has a SilentState
     * @param segmentBytes payload of a full segment
     * @param nowPs the current time [ps]
     */
    TcpTrail(const FlowEnds& ends, uint32_t segmentBytes, int64_t nowPs);

    // FlowTrail
    bool Fits(const FlowSender& sender) const override;
    void OnAcked(uint64_t bytes) override;
    PacketCounts CountPackets(const FlowEnds& ends) const override;
    bool End(const FlowSender& sender) override;
    void Advance(const FlowEnds& ends, int64_t startPs) override;

    std::size_t GetBytes() const override
    {
        return FlowTrail::GetBytes() + sizeof(*this) + m_remainders.capacity() * sizeof(Remainder);
    }

  private:
    /// Bytes of an ACK that fill no segment.
    struct Remainder
    {
        uint32_t bytes;
        bool isAlone; //!< true if the ACK has no whole segment
    };

    bool StaysInSlowStart(const SilentState& begin) const;
    SilentState GetEnd(const SilentState& begin) const;

    const SilentState m_begin;
    const PacketCounts m_sentBefore;
    const uint32_t m_segmentBytes;
    const int64_t m_beginPs;
    uint32_t m_wholeAcks{0}; //!< ACKs of at least a segment
    std::vector<Remainder> m_remainders;
    SilentState m_end;
    bool m_hasEnd{false};
    /// true if data has waited for the congestion window, or the window has left slow start, or has
    /// overflown its 32 bits
    bool m_needsSameWindow{false};
    std::unique_ptr<RttMemo> m_memo; //!< of the flow that was taken along it last
};

} // namespace cosim

#endif // COSIM_TCP_TRAIL_H
