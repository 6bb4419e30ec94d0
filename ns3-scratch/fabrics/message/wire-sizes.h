/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIRE_SIZES_H
#define COSIM_WIRE_SIZES_H

#include "network/transport-facts.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace cosim
{

/// The sizes of a message on the wire.
struct WireSize
{
    uint64_t bytes{0};      //!< payload of the message
    uint64_t wireBytes{0};  //!< size of all packets; 0: not computed yet
    uint64_t packets{0};    //!< number of packets
    uint32_t firstBytes{0}; //!< size of the first packet
    uint32_t lastBytes{0};  //!< size of the last packet
};

/// Computes the sizes of messages on the wire. A workload uses few sizes, so the results are
/// cached.
class WireSizes
{
  public:
    /// @param format sizes of the packets
    explicit WireSizes(const PacketFormat& format)
        : m_format(format)
    {
    }

    /// @return sizes of the packets
    const PacketFormat& GetFormat() const
    {
        return m_format;
    }

    /// @return the sizes of a message with this payload [bytes]; valid until the next call
    const WireSize& Get(uint64_t bytes)
    {
        WireSize& size = m_known[(bytes ^ (bytes >> 8)) % m_known.size()];
        if (size.bytes != bytes || size.wireBytes == 0)
        {
            const uint64_t full = m_format.GetFullBytes();
            size.bytes = bytes;
            size.packets = m_format.CountPackets(bytes);
            size.wireBytes = m_format.GetWireBytes(bytes);
            size.firstBytes = static_cast<uint32_t>(std::min(size.wireBytes, full));
            size.lastBytes = static_cast<uint32_t>(size.wireBytes - (size.packets - 1) * full);
        }
        return size;
    }

  private:
    PacketFormat m_format;
    std::array<WireSize, 256> m_known;
};

} // namespace cosim

#endif // COSIM_WIRE_SIZES_H
