/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WINDOW_SIZES_H
#define COSIM_WINDOW_SIZES_H

#include "stream/stream.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

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
 * The congestion window begins with `initialCwndSegments` and grows by what was sent, up to the
 * smaller one of both buffers. The first window is at most 65535 bytes, because the window in a SYN
 * is not scaled. Only whole packets leave before an acknowledgment has come, but the end of a
 * message may be a part of one.
 */
class WindowSizes
{
  public:
    /**
     * @param tcp supplies the sizes of segments, buffers and the initial congestion window
     * @param headerBytes headers per packet [bytes]
     */
    WindowSizes(const TcpSettings& tcp, uint32_t headerBytes)
        : m_segment(tcp.segmentBytes),
          m_header(headerBytes),
          m_initial(tcp.initialCwndSegments * m_segment),
          m_full(Make(static_cast<double>(std::min(tcp.sendBufferBytes, tcp.receiveBufferBytes)))),
          m_first(Make(std::min(m_initial, UNSCALED_WINDOW)))
    {
        m_full.isFull = true;
        m_first = Limit(m_first);
    }

    /// @return the size of a full packet [bytes on the wire]
    double GetPacket() const
    {
        return m_segment + m_header;
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
        return sentBytes > 0 ? Limit(Make(m_initial + sentBytes)) : m_first;
    }

  private:
    /// The largest window before the first acknowledgment [bytes].
    static constexpr double UNSCALED_WINDOW = 65535;

    /// @return the window of this payload [bytes]
    WindowSize Make(double payload) const
    {
        // A packet that is missing by a rounding error counts.
        const double packets = std::max(1.0, std::floor(payload / m_segment + 1e-6));
        const double rest = payload - packets * m_segment;
        const double complete = packets * GetPacket();
        return {complete, rest > 0 ? complete + rest + m_header : complete, false};
    }

    WindowSize Limit(const WindowSize& size) const
    {
        return size.complete >= m_full.complete ? m_full : size;
    }

    double m_segment; //!< largest payload of a packet [bytes]
    double m_header;  //!< [bytes]
    double m_initial; //!< initial congestion window [bytes of payload]
    WindowSize m_full;
    WindowSize m_first;
};

} // namespace cosim

#endif // COSIM_WINDOW_SIZES_H
