/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEGMENT_H
#define COSIM_SEGMENT_H

#include "transport/packet.h"

#include "ns3/sequence-number.h"
#include "ns3/tcp-option-sack.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

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

/**
 * Allocates segments and reuses returned ones. It never holds more segments than were in use at the
 * same time.
 */
class SegmentPool
{
  public:
    /// @return a segment without SACK blocks; the caller sets all other fields
    Segment* Take()
    {
        if (m_free.empty())
        {
            return &m_all.emplace_back();
        }
        Segment* segment = m_free.back();
        m_free.pop_back();
        return segment;
    }

    /// @param segment a segment from this pool that is no longer used
    void Return(Segment* segment)
    {
        segment->sackBlocks.reset();
        m_free.push_back(segment);
    }

  private:
    std::deque<Segment> m_all;
    std::vector<Segment*> m_free;
};

} // namespace cosim

#endif // COSIM_SEGMENT_H
