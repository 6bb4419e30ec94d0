/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIRE_SIZES_H
#define COSIM_WIRE_SIZES_H

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

/**
 * Computes the sizes of messages on the wire: P payload bytes in segments of at most M bytes with
 * headers of h bytes take P + ceil(P/M)·h bytes. A message without payload is carried as one byte.
 *
 * A workload uses few sizes, so the results are cached.
 */
class WireSizes
{
  public:
    /**
     * @param segmentBytes largest payload of a packet, M [bytes]
     * @param headerBytes headers per packet, h [bytes]
     */
    WireSizes(uint32_t segmentBytes, uint32_t headerBytes)
        : m_segmentBytes(segmentBytes),
          m_headerBytes(headerBytes)
    {
    }

    /// @return the sizes of a message with this payload [bytes]; valid until the next call
    const WireSize& Get(uint64_t bytes)
    {
        WireSize& size = m_known[(bytes ^ (bytes >> 8)) % m_known.size()];
        if (size.bytes != bytes || size.wireBytes == 0)
        {
            const uint64_t payload = std::max<uint64_t>(bytes, 1);
            size.bytes = bytes;
            size.packets = (payload + m_segmentBytes - 1) / m_segmentBytes;
            size.wireBytes = payload + size.packets * m_headerBytes;
            const uint64_t first = std::min<uint64_t>(payload, m_segmentBytes);
            const uint64_t last = payload - (size.packets - 1) * m_segmentBytes;
            size.firstBytes = static_cast<uint32_t>(first) + m_headerBytes;
            size.lastBytes = static_cast<uint32_t>(last) + m_headerBytes;
        }
        return size;
    }

  private:
    uint32_t m_segmentBytes;
    uint32_t m_headerBytes;
    std::array<WireSize, 256> m_known;
};

} // namespace cosim

#endif // COSIM_WIRE_SIZES_H
