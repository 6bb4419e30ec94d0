/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKET_H
#define COSIM_PACKET_H

#include "transport/flow-observer.h"

#include <cstdint>
#include <span>

namespace cosim
{

/**
 * A packet on its way: what links, queues and routes know of it.
 *
 * The payload has a size but no content. A transport makes packets of a type of its own, which
 * derives from this one and adds the words of its header (see Segment).
 */
struct Packet
{
    std::span<const uint32_t> path; //!< the links of its path
    FlowId flow;
    uint32_t wireBytes; //!< size on the wire, all headers included [bytes]
    uint32_t payloadBytes;
    uint32_t order; //!< number among the data packets of its flow; used only by ArrivalOrder
    uint16_t hop;   //!< index in the path of the current link
    bool toSender;  //!< true on the reverse path (ACKs)
    bool ect : 1;   //!< true if the transport is ECN-capable
    bool ce : 1;    //!< true if a queue has marked the packet (congestion experienced)
    uint8_t trafficClass : 3 {0}; //!< priority in which it waits; 0 is the lowest
    bool isProbe : 1 {false};     //!< true if switch ports write into it (see ProbePacket)
};

/// Carries the packets that the two endpoints of a flow send.
class PacketCarrier
{
  public:
    virtual ~PacketCarrier() = default;

    /// @param packet the packet to carry to the other endpoint, starting now
    virtual void Carry(Packet* packet) = 0;
};

} // namespace cosim

#endif // COSIM_PACKET_H
