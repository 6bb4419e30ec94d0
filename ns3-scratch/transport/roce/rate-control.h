/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_RATE_CONTROL_H
#define COSIM_RATE_CONTROL_H

#include "stream/stream.h"
#include "transport/telemetry.h"

#include <cstdint>
#include <limits>
#include <memory>

namespace cosim
{

/// What a queue pair knows of its path when it is created.
struct PathFacts
{
    double lineBps;       //!< rate of the link by which it sends [bit/s]
    int64_t baseRttPs;    //!< round trip of a full packet's payload in an empty network [ps]
    double windowBytes;   //!< most bytes in flight; without a window, the bandwidth-delay product
    uint32_t packetBytes; //!< payload of a full packet
};

/// What an acknowledgment tells the sender.
struct Feedback
{
    int64_t nowPs;
    uint64_t acked;             //!< sequence number up to which all bytes have arrived
    uint64_t next;              //!< sequence number of the next byte to send
    int64_t rttPs;              //!< since the packet that is answered was sent
    bool isMarked;              //!< true if a packet was marked
    const Telemetry* telemetry; //!< of the packet that is answered, or null
};

/**
 * The congestion control of a queue pair: it decides at which rate the pair sends.
 *
 * It has no timers. What it does at certain times, it does when it is asked the next time, in the
 * right order.
 */
class RateControl
{
  public:
    static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

    virtual ~RateControl() = default;

    /// Let everything happen that was due until now [ps].
    virtual void Advance(int64_t /* nowPs */)
    {
    }

    /// @return when the rate can rise by itself [ps]
    virtual int64_t GetNextRisePs() const
    {
        return NEVER;
    }

    /// @param feedback an ACK or a NACK has arrived
    virtual void OnFeedback(const Feedback& /* feedback */)
    {
    }

    /// A congestion notification packet has arrived [ps].
    virtual void OnNotification(int64_t /* nowPs */)
    {
    }

    /// @param bytes size of a packet that is sent now, all headers included
    virtual void OnSent(int64_t /* nowPs */, uint32_t /* bytes */)
    {
    }

    /// @return the rate [bit/s]
    double GetRateBps() const
    {
        return m_rateBps;
    }

  protected:
    /// @param path the path of the queue pair, which starts at line rate
    explicit RateControl(const PathFacts& path)
        : m_rateBps(path.lineBps)
    {
    }

    double m_rateBps;
};

/**
 * Makes the congestion control that the settings name.
 *
 * @param settings the settings; must outlive the result
 * @param path the path of the queue pair
 * @return the congestion control
 * @throws std::invalid_argument if there is none of this name
 */
std::unique_ptr<RateControl> MakeRateControl(const RoceSettings& settings, const PathFacts& path);

} // namespace cosim

#endif // COSIM_RATE_CONTROL_H
