/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRANSPORT_FACTS_H
#define COSIM_TRANSPORT_FACTS_H

#include "stream/stream.h"

#include <cstdint>

namespace cosim
{

/**
 * @file
 * What fabrics, queues and observers know of a transport, so that they need not know which one it
 * is.
 */

/**
 * The sizes of the packets of a run.
 *
 * A message of P bytes takes P + ceil(P / payloadBytes) · headerBytes on the wire. A message
 * without data is carried as one byte.
 */
struct PacketFormat
{
    uint32_t mtuBytes{0};     //!< largest packet without the header of the link
    uint32_t payloadBytes{1}; //!< data in a full packet
    uint32_t headerBytes{0};  //!< all headers of a data packet, that of the link included
    uint32_t ackBytes{0};     //!< packet that only acknowledges, all headers included
    uint32_t linkBytes{0};    //!< header of the link alone
    uint32_t timeUnitPs{1};   //!< unit to which transmission times are rounded down

    /// @return the size of a data packet that is full [bytes on the wire]
    uint32_t GetFullBytes() const
    {
        return payloadBytes + headerBytes;
    }

    /// @return the size of the largest packet [bytes on the wire]
    uint32_t GetLargestBytes() const
    {
        return mtuBytes + linkBytes;
    }

    /// @return the number of packets of a message with this payload [bytes]
    uint64_t CountPackets(uint64_t bytes) const
    {
        return bytes == 0 ? 1 : (bytes - 1) / payloadBytes + 1;
    }

    /// @return the size of all packets of a message with this payload [bytes]
    uint64_t GetWireBytes(uint64_t bytes) const
    {
        return (bytes == 0 ? 1 : bytes) + CountPackets(bytes) * headerBytes;
    }
};

/// How much a connection may have on its way while nothing is lost [bytes of payload].
struct WindowLimits
{
    double initialBytes; //!< the congestion window at the start; it grows by what was sent
    double firstBytes;   //!< before the first acknowledgment
    double fullBytes;    //!< never more
};

/// Retransmission timeouts in a row after which TCP gives a connection up.
inline constexpr uint32_t TCP_DATA_RETRIES = 15;

/// @return the number of retransmission timeouts in a row after which a flow is given up
uint32_t GetMostTimeouts(const TransportSettings& settings);

/// @return the format that follows from the settings of the transport
PacketFormat GetPacketFormat(const TransportSettings& settings);

/// @return the limits that follow from the settings of the transport
WindowLimits GetWindowLimits(const TransportSettings& settings);

} // namespace cosim

#endif // COSIM_TRANSPORT_FACTS_H
