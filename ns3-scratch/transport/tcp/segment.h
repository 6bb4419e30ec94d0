/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEGMENT_H
#define COSIM_SEGMENT_H

#include "transport/packet-pool.h"
#include "transport/packet.h"

#include "ns3/sequence-number.h"
#include "ns3/tcp-option-sack.h"

#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * A packet of TCP. The header fields are members instead of serialized bytes.
 *
 * The size is one cache line. A segment waits longer than a cache keeps it, so one access should
 * load all of it.
 */
struct alignas(64) Segment : Packet
{
    uint8_t flags;   //!< TCP flags
    uint16_t window; //!< scaled value, as in the TCP header
    ns3::SequenceNumber32 sequence;
    ns3::SequenceNumber32 acknowledgment;
    uint32_t timestamp;     //!< TS option; used only with timestamps
    uint32_t timestampEcho; //!< TS option; used only with timestamps
    std::unique_ptr<ns3::TcpOptionSack::SackList> sackBlocks; //!< null: no SACK blocks
};

static_assert(sizeof(Segment) == alignof(Segment));

/// Its segments have no SACK blocks when they are taken; the caller sets all other fields.
class SegmentPool : private PacketPool<Segment>
{
  public:
    using PacketPool<Segment>::Take;

    /// @param segment a segment from this pool that is no longer used
    void Return(Segment* segment)
    {
        segment->sackBlocks.reset();
        PacketPool<Segment>::Return(segment);
    }
};

} // namespace cosim

#endif // COSIM_SEGMENT_H
