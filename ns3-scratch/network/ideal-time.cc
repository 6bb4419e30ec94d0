/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/ideal-time.h"

#include "support/wide-arithmetic.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// Transmission time of one byte at 1 bit/s [ps].
constexpr uint64_t BYTE_PS = 8'000'000'000'000;

/// The longest time that is computed [ps]; sums of a few of them fit in 64 bits.
constexpr uint64_t LONGEST_PS = uint64_t{1} << 60;

} // namespace

IdealTime::IdealTime(const Topology& topology, const PacketFormats& formats)
    : m_topology(topology),
      m_formats(formats)
{
}

IdealTimes
IdealTime::Get(const LiveLinks& links, uint32_t path, uint64_t bytes) const
{
    const PacketFormat& format = m_formats.Get(path);
    const uint64_t fullPackets = format.CountPackets(bytes) - 1;
    const uint64_t lastBytes = format.GetWireBytes(bytes) - fullPackets * format.GetFullBytes();
    IdealTimes times{0, 0};
    uint64_t first = 0;   // the first full packet reaches the end of this link
    uint64_t slowest = 0; // time of a full packet on the slowest link so far
    bool isFirst = true;
    for (const uint32_t link : links.GetPath(path))
    {
        const LinkState& state = links.Get(link);
        times.propagationPs += state.latencyPs;
        if (!isFirst && state.source < m_topology.ranks)
        {
            times.propagationPs += m_topology.forwardingDelayPs;
        }
        isFirst = false;
        uint64_t ready = times.serializationPs;
        if (fullPackets > 0)
        { // the last packet follows the full ones
            const uint64_t full =
                MultiplyDivideUp(format.GetFullBytes(), BYTE_PS, state.rateBps, LONGEST_PS);
            first = std::min(first + full, LONGEST_PS);
            slowest = std::max(slowest, full);
            ready =
                std::max(ready,
                         std::min(first + MultiplyDivide(fullPackets - 1, slowest, 1), LONGEST_PS));
        }
        times.serializationPs =
            std::min(ready + MultiplyDivideUp(lastBytes, BYTE_PS, state.rateBps, LONGEST_PS),
                     LONGEST_PS);
    }
    return times;
}

} // namespace cosim
