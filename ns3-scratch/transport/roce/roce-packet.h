/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROCE_PACKET_H
#define COSIM_ROCE_PACKET_H

#include "transport/packet-pool.h"
#include "transport/telemetry.h"

#include <cstdint>

namespace cosim
{

/// A packet of RoCE. Sequence numbers count the bytes of the flow.
struct RocePacket : ProbePacket
{
    enum class Type : uint8_t
    {
        DATA,
        ACK,  //!< everything before `sequence` has arrived
        NACK, //!< likewise, and the packet that begins there is missing
        CNP,  //!< congestion notification: a packet was marked
    };

    Type type;
    bool asksAck;      //!< DATA: the receiver is to acknowledge it at once
    bool isMarked;     //!< ACK, NACK: packets that it answers were marked
    uint64_t sequence; //!< DATA: of its first byte; ACK, NACK: the next byte that is expected
    uint64_t arrived;  //!< ACK, NACK: the first byte of the data packet that it answers
    int64_t sentPs;    //!< DATA: when it was sent; ACK, NACK: copied from the packet it answers
};

/// The taker of a packet sets all fields except `telemetry`.
using RocePool = PacketPool<RocePacket>;

} // namespace cosim

#endif // COSIM_ROCE_PACKET_H
