/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TELEMETRY_H
#define COSIM_TELEMETRY_H

#include "transport/packet.h"

#include <array>
#include <cstdint>
#include <memory>

namespace cosim
{

/**
 * What the switch ports on the way of a packet write into it (in-band network telemetry, INT).
 *
 * The fields have the widths and units of HPCC's header, so they wrap and are rounded down as
 * there.
 *
 * Source: Y. Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, section 4.1.
 */
struct Telemetry
{
    static constexpr std::size_t MOST_HOPS = 5;
    static constexpr uint32_t BYTES_UNIT = 128;               //!< of Hop::sent
    static constexpr uint32_t QUEUE_UNIT = 80;                //!< of Hop::queue
    static constexpr uint32_t TIME_MASK = (1U << 24) - 1;     //!< widest Hop::timeNs
    static constexpr uint32_t BYTES_MASK = (1U << 20) - 1;    //!< widest Hop::sent
    static constexpr uint32_t LONGEST_QUEUE = (1U << 17) - 1; //!< largest Hop::queue

    /// A port that the packet has left.
    struct Hop
    {
        uint64_t rateBps; //!< of the link
        uint32_t timeNs;  //!< when the packet left the queue, modulo 2^24 [ns]
        uint32_t sent;    //!< what the port had sent before it, modulo 2^20 [128 bytes]
        uint32_t queue;   //!< what it left behind in the queue, at most 2^17 - 1 [80 bytes]
    };

    /**
     * Note a port, unless five are noted already.
     *
     * @param timePs when the packet leaves the queue [ps]
     * @param sentBytes bytes that the port has sent before
     * @param queueBytes bytes that stay in the queue
     * @param rateBps rate of the link [bit/s]
     */
    void Add(int64_t timePs, uint64_t sentBytes, uint64_t queueBytes, uint64_t rateBps)
    {
        if (count == MOST_HOPS)
        {
            return;
        }
        const uint64_t queue = queueBytes / QUEUE_UNIT;
        hops[count++] = {rateBps,
                         static_cast<uint32_t>(timePs / 1000) & TIME_MASK,
                         static_cast<uint32_t>(sentBytes / BYTES_UNIT) & BYTES_MASK,
                         queue < LONGEST_QUEUE ? static_cast<uint32_t>(queue) : LONGEST_QUEUE};
    }

    std::array<Hop, MOST_HOPS> hops;
    uint8_t count{0};
};

/// A packet into which ports write, if Packet::isProbe is set.
struct ProbePacket : Packet
{
    std::unique_ptr<Telemetry> telemetry; //!< not null if the packet is a probe
};

} // namespace cosim

#endif // COSIM_TELEMETRY_H
