/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WINDOW_SIZES_H
#define COSIM_WINDOW_SIZES_H

#include "network/transport-facts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace cosim
{

/// The size of a window of TCP.
struct WindowSize
{
    double complete; //!< its whole packets [bytes on the wire]
    double withRest; //!< also with a part of a packet, as the end of a message [bytes on the wire]
    bool isFull;     //!< true if it does not grow any more
};

/**
 * Computes what a connection sends before it has to wait for acknowledgments, if it loses nothing.
 *
 * The congestion window grows by what was sent. Only whole packets leave before an acknowledgment
 * has come, but the end of a message may be a part of one.
 */
class WindowSizes
{
  public:
    /**
     * @param format sizes of the packets
     * @param limits windows of a connection
     */
    WindowSizes(const PacketFormat& format, const WindowLimits& limits)
        : m_payload(format.payloadBytes),
          m_header(format.headerBytes),
          m_initial(limits.initialBytes),
          m_full(Make(limits.fullBytes)),
          m_first(Make(limits.firstBytes))
    {
        m_full.isFull = true;
        m_fullPayload = m_full.complete / GetPacket() * m_payload;
        m_first = Limit(m_first);
    }

    /// @return the size of a full packet [bytes on the wire]
    double GetPacket() const
    {
        return m_payload + m_header;
    }

    /// @return the share of payload in a full packet
    double GetPayloadShare() const
    {
        return m_payload / GetPacket();
    }

    /// @return the first window of a connection
    const WindowSize& GetFirst() const
    {
        return m_first;
    }

    /// @return the largest window of a connection
    const WindowSize& GetFull() const
    {
        return m_full;
    }

    /// @return the window after this amount was sent [bytes of payload]
    WindowSize Get(double sentBytes) const
    {
        const double payload = m_initial + sentBytes;
        if (payload > m_fullPayload + m_payload)
        {
            return m_full;
        }
        return sentBytes > 0 ? Limit(Make(payload)) : m_first;
    }

  private:
    /// @return the window of this payload [bytes]
    WindowSize Make(double payload) const
    {
        // A packet that is missing by a rounding error counts.
        const double packets = std::max(1.0, std::floor(payload / m_payload + 1e-6));
        const double rest = payload - packets * m_payload;
        const double complete = packets * GetPacket();
        return {complete, rest > 0 ? complete + rest + m_header : complete, false};
    }

    WindowSize Limit(const WindowSize& size) const
    {
        return size.complete >= m_full.complete ? m_full : size;
    }

    double m_payload; //!< largest payload of a packet [bytes]
    double m_header;  //!< [bytes]
    double m_initial; //!< initial congestion window [bytes of payload]
    WindowSize m_full;
    WindowSize m_first;
    double m_fullPayload; //!< of the whole packets of m_full [bytes]
};

/// @return the windows of the connections of each transport (see Settings::GetTransport)
inline std::vector<WindowSizes>
MakeWindowSizes(const Settings& settings)
{
    std::vector<WindowSizes> sizes;
    for (uint32_t number = 0; number < settings.CountTransports(); ++number)
    {
        const TransportSettings& transport = settings.GetTransport(number);
        sizes.emplace_back(GetPacketFormat(transport), GetWindowLimits(transport));
    }
    return sizes;
}

} // namespace cosim

#endif // COSIM_WINDOW_SIZES_H
