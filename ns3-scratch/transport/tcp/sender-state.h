/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SENDER_STATE_H
#define COSIM_SENDER_STATE_H

#include "support/ring-buffer.h"

#include "ns3/sequence-number.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace cosim
{

/// A segment that was sent once and is not acknowledged.
struct SentSegment
{
    int64_t sentPs;
    uint32_t bytes; //!< payload
};

/// What ns3::RttMeanDeviation knows of a connection, and what the socket takes from it.
struct RttState
{
    int64_t estimatePs{0};
    int64_t variationPs{0};
    int64_t latestPs{0}; //!< round trip of the segment that was acknowledged last
    int64_t smallestPs{std::numeric_limits<int64_t>::max()}; //!< smallest estimate
    uint32_t samples{0};

    /**
     * @param granularityPs granularity of TCP's clock
     * @param minPs smallest retransmission timeout
     * @return the retransmission timeout (RFC 6298, 2.3)
     */
    int64_t GetTimeoutPs(int64_t granularityPs, int64_t minPs) const
    {
        return std::max(estimatePs + std::max(granularityPs, variationPs * 4), minPs);
    }

    /// @return true if equal measurements have equal effects on both, but for the smallest estimate
    bool IsSameEstimate(const RttState& other) const
    {
        return estimatePs == other.estimatePs && variationPs == other.variationPs &&
               (samples == 0) == (other.samples == 0);
    }

    /**
     * Do what ns3::RttMeanDeviation::Measurement does with its default gains, 1/8 and 1/4.
     *
     * @param rttPs a round trip [ps]
     */
    void Measure(int64_t rttPs)
    {
        if (samples++ == 0)
        {
            estimatePs = rttPs;
            variationPs = rttPs / 2;
        }
        else
        {
            const int64_t error = rttPs - estimatePs;
            estimatePs = ((estimatePs << 3) + error) >> 3;
            const int64_t deviation = std::abs(error) - variationPs;
            variationPs = ((variationPs << 2) + deviation) >> 2;
        }
        smallestPs = std::min(smallestPs, estimatePs);
    }
};

/**
 * The state of a TCP sender with which nothing is wrong: no segment is lost, repeated, marked or
 * selectively acknowledged.
 *
 * It says all that the functions of ns3::TcpSocketBase read in this state. Congestion controls
 * other than ns3::TcpNewReno have more, in a Congestion. A TcpSender changes it as the socket
 * would, and an ExpressTcpSocket can be put into this state at any time.
 */
struct SenderState
{
    ns3::SequenceNumber32 head{1};    //!< first byte that is not acknowledged
    ns3::SequenceNumber32 next{1};    //!< first byte that was not sent
    uint32_t window{0};               //!< receive window of the peer [bytes]
    uint32_t congestionWindow{0};     //!< [bytes]
    uint32_t slowStartThreshold{0};   //!< [bytes]
    uint32_t uncounted{0};            //!< acknowledged bytes that do not fill a segment yet
    uint64_t unsent{0};               //!< bytes that were submitted and not sent yet
    RingBuffer<SentSegment> inFlight; //!< the segments from head to next
    RttState rtt;
    int64_t timeoutPs{0};        //!< retransmission timeout
    uint32_t timestamp{0};       //!< TS option: latest timestamp of the peer
    uint32_t timestampEcho{0};   //!< TS option: what the peer echoed with it
    bool isAnswered{false};      //!< true if an ACK of data has arrived
    bool isWindowLimited{false}; //!< true if the last segment filled the congestion window
    /// latest time at which data waited for the congestion window; -1: never [ps]
    int64_t limitedPs{-1};
    /// latest time at which a round trip took as long as the shortest retransmission timeout; -1:
    /// never [ps]
    int64_t slowPs{-1};
};

/// What decides what a silent flow does next (see FlowTrail), if nothing was ever wrong with it.
struct SilentState
{
    ns3::SequenceNumber32 head; //!< next byte to send
    uint32_t window{0};         //!< as in SenderState; so are the others
    uint32_t congestionWindow{0};
    uint32_t slowStartThreshold{0};
    uint32_t uncounted{0};
    bool isAnswered{false};
};

/// What a number of measurements made of an RttState.
struct RttMemo
{
    RttState before;
    RttState after;
};

} // namespace cosim

#endif // COSIM_SENDER_STATE_H
