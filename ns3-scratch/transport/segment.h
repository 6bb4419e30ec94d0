/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SEGMENT_H
#define COSIM_SEGMENT_H

#include "transport/flow-observer.h"

#include "ns3/sequence-number.h"
#include "ns3/tcp-option-sack.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace cosim
{

/**
 * A TCP segment on its way through the express fabric: the header's fields beside the packet
 * instead of serialised into it. Payload has a size but no content.
 *
 * One cache line: a segment waits for longer than a cache holds it, and is read when it arrives.
 */
struct alignas(64) Segment
{
    std::span<const uint32_t> path; //!< the links it takes
    FlowId flow;
    uint16_t hop;    //!< index of the link it is on, in its path
    bool toSender;   //!< on the reverse path: an ACK
    bool ect;        //!< ECN-capable transport
    bool ce;         //!< congestion experienced
    uint8_t flags;   //!< TCP flags
    uint16_t window; //!< as in the header: scaled
    uint32_t payloadBytes;
    uint32_t wireBytes;     //!< link, IP and TCP headers included
    uint32_t timestamp;     //!< TS option, if the connection uses it
    uint32_t timestampEcho; //!< TS option, if the connection uses it
    ns3::SequenceNumber32 sequence;
    ns3::SequenceNumber32 acknowledgment;
    std::unique_ptr<ns3::TcpOptionSack::SackList> sackBlocks; //!< null: none
};

static_assert(sizeof(Segment) == alignof(Segment));

/**
 * Recycles segments: as many exist as were ever in the network at the same time.
 */
class SegmentPool
{
  public:
    /// @return a segment whose fields are to be set by the caller (no SACK blocks)
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

    /// @param segment taken from this pool and no longer used
    void Return(Segment* segment)
    {
        segment->sackBlocks.reset();
        m_free.push_back(segment);
    }

  private:
    std::deque<Segment> m_all;
    std::vector<Segment*> m_free;
};

/// Where the two ends of a flow put the segments that they send.
class SegmentCarrier
{
  public:
    virtual ~SegmentCarrier() = default;

    /// @return a segment to fill in
    virtual Segment* NewSegment() = 0;

    /// @param segment what to carry to the flow's other end, from now on
    virtual void Carry(Segment* segment) = 0;
};

} // namespace cosim

#endif // COSIM_SEGMENT_H
