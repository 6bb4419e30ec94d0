/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_WINDOWS_H
#define COSIM_FLOW_WINDOWS_H

#include "fabrics/message/window-sizes.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

class FlowFabric;

/**
 * The windows of the paths of a FlowFabric, whose acknowledgments wait behind data.
 *
 * The acknowledgments for a rank leave it over the link that carries its own data, and wait in the
 * queue of this link. A path that has sent one window therefore waits until a time
 *
 *   s + q/r + g.
 *
 * Here s is the begin of the window, r the rate of the link on which the acknowledgments leave the
 * receiver, and q what waits there: one window of each path that fills this link, or the rest of
 * its message. A path that shares this queue with n windows has thus at most the rate of one of the
 * n paths that send there. The paths around a ring of ranks wait for each other, so their links are
 * idle until the last packet of a window has arrived and is acknowledged. This gap, g, is the time
 * that a packet takes after its first link, and the transmission time of an acknowledgment. It is 0
 * where there is no such ring.
 *
 * A path that had nothing to send begins a new window. A large message waits only about MAX_WAITS
 * times, each time for several windows.
 */
class FlowWindows
{
  public:
    /// @param fabric the fabric; must outlive this object
    explicit FlowWindows(FlowFabric& fabric);

    /**
     * Prepare a path for the current links. The path must not wait.
     *
     * @param id the path
     * @param rateBps rate that its window allows over idle links [bit/s]
     */
    void Prepare(uint32_t id, double rateBps);

    /**
     * Begin a window with the first message of a path, which must exist.
     *
     * @param id the path
     * @param now current time [ps]
     */
    void Begin(uint32_t id, uint64_t now);

    /**
     * @param id a path
     * @param bytes what it has sent [bytes on the wire]
     */
    void Spend(uint32_t id, double bytes)
    {
        m_windows[id].left -= bytes;
    }

    /// @return what a path can send before its window ends [bytes on the wire]
    double GetLeft(uint32_t id) const
    {
        return m_windows[id].left;
    }

    /**
     * @param id a path that has sent its window
     * @param now current time [ps]
     * @return the time at which the acknowledgments of this window have waited behind data; now if
     * they have not waited [ps]
     */
    uint64_t GetEnd(uint32_t id, uint64_t now) const;

    /**
     * Let a path wait for acknowledgments, or end this.
     *
     * @param id the path
     * @param isWaiting true if it waits from now on
     */
    void SetWaiting(uint32_t id, bool isWaiting);

  private:
    /// The largest number of times that one message waits for acknowledgments.
    static constexpr uint64_t MAX_WAITS = 8;

    /// The largest number of links that the search for a ring looks at. It takes more for a ring.
    static constexpr std::size_t MAX_SEARCH = 64;

    struct Window
    {
        double left{0};        //!< remaining part [bytes on the wire]
        double size{0};        //!< [bytes on the wire]
        double rateBps{0};     //!< rate that it allows over idle links [bit/s]
        uint64_t startedAt{0}; //!< [ps]
        uint64_t count{1};     //!< number of windows that are treated as one
        bool isWaiting{false}; //!< true if the path waits for acknowledgments
    };

    double GetAckWait(uint32_t id) const;
    void FindQueued(uint32_t link, std::vector<uint32_t>& paths) const;
    double GetQueue(uint32_t link, uint64_t startedAt) const;
    bool IsInRing(uint32_t id, uint32_t ackLink) const;

    FlowFabric& m_fabric;
    const WindowSizes m_sizes;
    std::vector<Window> m_windows;          //!< by path
    std::vector<double> m_waiting;          //!< by link: windows of the waiting paths [bytes]
    mutable std::vector<uint32_t> m_queued; //!< buffer of GetQueue
};

} // namespace cosim

#endif // COSIM_FLOW_WINDOWS_H
