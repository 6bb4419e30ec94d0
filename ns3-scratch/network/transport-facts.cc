/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "network/transport-facts.h"

#include "support/header-sizes.h"

#include <algorithm>

namespace cosim
{

namespace
{

/// The largest window in a SYN, which is not scaled (RFC 7323, 2.2) [bytes].
constexpr uint32_t UNSCALED_WINDOW = 65535;

/// More than a run can send [bytes].
constexpr double UNLIMITED_BYTES = 1e18;

} // namespace

uint32_t
GetMostTimeouts(const TransportSettings& settings)
{
    return settings.UsesRoce() ? settings.roce.retries + 1 : TCP_DATA_RETRIES;
}

uint8_t
GetDataClass(const TransportSettings& settings)
{
    return static_cast<uint8_t>(settings.UsesRoce() ? settings.roce.dataClass : 0);
}

PacketFormat
GetPacketFormat(const TransportSettings& settings)
{
    if (settings.UsesRoce())
    {
        const RoceSettings& roce = settings.roce;
        const uint32_t full = roce.payloadBytes + roce.headerBytes;
        return {std::max({full, roce.ackBytes, roce.cnpBytes}),
                roce.payloadBytes,
                roce.headerBytes,
                roce.ackBytes,
                0,
                roce.timeUnitPs};
    }
    const TcpSettings& tcp = settings.tcp;
    const uint32_t headers = GetDataHeaderBytes(tcp.timestamps) + tcp.linkHeaderBytes;
    return {tcp.mtuBytes, std::max(tcp.segmentBytes, 1U), headers, headers, tcp.linkHeaderBytes};
}

PacketFormats::PacketFormats(const Topology& topology, const Settings& settings)
    : m_numbers(topology.pathTransport)
{
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        m_formats.push_back(GetPacketFormat(settings.GetTransport(number)));
    }
    if (std::ranges::count(m_formats, m_formats.front()) == std::ssize(m_formats))
    {
        m_formats.resize(1);
        m_numbers = {};
    }
}

uint32_t
PacketFormats::GetLargestBytes() const
{
    uint32_t largest = 0;
    for (const PacketFormat& format : m_formats)
    {
        largest = std::max(largest, format.GetLargestBytes());
    }
    return largest;
}

uint32_t
PacketFormats::GetLinkBytes() const
{
    uint32_t largest = 0;
    for (const PacketFormat& format : m_formats)
    {
        largest = std::max(largest, format.linkBytes);
    }
    return largest;
}

WindowLimits
GetWindowLimits(const TransportSettings& settings)
{
    if (settings.UsesRoce())
    { // a bandwidth-delay product limits nothing in an empty network
        const uint64_t bytes = settings.roce.windowBytes;
        const double window = bytes == 0 ? UNLIMITED_BYTES : static_cast<double>(bytes);
        return {window, window, window};
    }
    const TcpSettings& tcp = settings.tcp;
    if (tcp.unlimitedWindow)
    {
        return {UNLIMITED_BYTES, UNLIMITED_BYTES, UNLIMITED_BYTES};
    }
    const double initial = static_cast<double>(tcp.initialCwndSegments) * tcp.segmentBytes;
    return {initial,
            std::min<double>(initial, UNSCALED_WINDOW),
            static_cast<double>(std::min(tcp.sendBufferBytes, tcp.receiveBufferBytes))};
}

} // namespace cosim
