/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKET_COUNTS_H
#define COSIM_PACKET_COUNTS_H

#include "support/ledger.h"

#include <cstdint>
#include <tuple>

namespace cosim
{

/// Numbers of packets that were sent.
struct PacketCounts
{
    uint64_t packets{0};
    uint64_t dataPackets{0};
    uint64_t wireBytes{0}; //!< headers included

    /**
     * Count a packet.
     *
     * @param bytes its size, headers included
     * @param payloadBytes its payload
     */
    void Add(uint32_t bytes, uint32_t payloadBytes)
    {
        ++packets;
        dataPackets += payloadBytes > 0 ? 1 : 0;
        wireBytes += bytes;
    }
};

template <>
inline constexpr auto COUNTERS<PacketCounts> =
    std::make_tuple(&PacketCounts::packets, &PacketCounts::dataPackets, &PacketCounts::wireBytes);

} // namespace cosim

#endif // COSIM_PACKET_COUNTS_H
