/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRANSPORT_FACTS_H
#define COSIM_TRANSPORT_FACTS_H

#include "stream/stream.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * @file
 * What fabrics, queues and observers know of a transport, so that they need not know which one it
 * is.
 */

/**
 * The sizes of the packets of a connection.
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

    bool operator==(const PacketFormat&) const = default;

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

/// @return the traffic class in which the transport sends data
uint8_t GetDataClass(const TransportSettings& settings);

/// @return the format that follows from the settings of the transport
PacketFormat GetPacketFormat(const TransportSettings& settings);

/// The sizes of the packets of all connections of a run, which are the same for most runs.
class PacketFormats
{
  public:
    /**
     * @param topology says what transports connections have; must outlive this object
     * @param settings the transports
     */
    PacketFormats(const Topology& topology, const Settings& settings);

    /// @return the format of the connection of a path, as an index into All
    uint32_t GetNumber(uint32_t path) const
    {
        return m_numbers.empty() ? 0 : m_numbers[path];
    }

    /// @return the format of the connection of a path
    const PacketFormat& Get(uint32_t path) const
    {
        return m_formats[GetNumber(path)];
    }

    /// @return all formats
    std::span<const PacketFormat> All() const
    {
        return m_formats;
    }

    /// @return the size of the largest packet [bytes on the wire]
    uint32_t GetLargestBytes() const;

    /// @return the size of the largest header of a link [bytes]
    uint32_t GetLinkBytes() const;

  private:
    std::vector<PacketFormat> m_formats;
    std::span<const uint32_t> m_numbers; //!< by path; empty: all have the first format
};

/// @return the limits that follow from the settings of the transport
WindowLimits GetWindowLimits(const TransportSettings& settings);

} // namespace cosim

#endif // COSIM_TRANSPORT_FACTS_H
