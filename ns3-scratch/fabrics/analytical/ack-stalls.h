/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ACK_STALLS_H
#define COSIM_ACK_STALLS_H

#include "fabrics/analytical/window-sizes.h"
#include "fabrics/message/parcels.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

class MessageFabric;

/**
 * Estimates how much later whole messages arrive because acknowledgments wait behind data.
 *
 * Where ranks in a ring send to each other, their links are idle after each window, until its last
 * packet has arrived and is acknowledged. A message of several windows has one such gap between
 * each two of them. Only messages larger than the first window of a connection count.
 */
class AckStalls
{
  public:
    /**
     * @param fabric the fabric; must outlive this object
     */
    explicit AckStalls(const MessageFabric& fabric);

    /**
     * Note that messages are sent, before Get is called for any of them.
     *
     * @param cargo the messages
     * @param at time at which they are sent [ps]
     */
    void Announce(std::span<const Cargo> cargo, uint64_t at);

    /**
     * @param path path of a message
     * @param wireBytes its size [bytes on the wire]
     * @param at time at which it is sent [ps]
     * @return the time by which it arrives later [ps]
     */
    uint64_t Get(uint32_t path, uint64_t wireBytes, uint64_t at)
    {
        return IsLarge(path, wireBytes) ? GetOfLarge(path, wireBytes, at) : 0;
    }

  private:
    /// The number of ranks from which on a row of ranks that send counts as a ring.
    static constexpr uint32_t MAX_RING = 64;

    /// The large messages that start at a link.
    struct Link
    {
        uint64_t busyUntil{0};    //!< end of their transmission [ps]
        uint64_t bytes{0};        //!< of the latest one [bytes on the wire]
        uint64_t transmission{0}; //!< of the latest one [ps]
        uint32_t ackLink{0};      //!< of the path of the latest one
    };

    /// What large messages of a path need to know of it.
    struct Path
    {
        uint64_t gap{0};   //!< see GetGap
        uint32_t first{0}; //!< its first link
        uint32_t ackLink{0};
        bool isKnown{false};
        bool isFull{false}; //!< true if its window does not grow any more
    };

    /// The windows of the connections with the same transport.
    struct Kind
    {
        WindowSizes sizes;
        uint64_t first; //!< first window of a connection [bytes on the wire]
    };

    const Kind& GetKind(uint32_t path) const;

    bool IsLarge(uint32_t path, uint64_t wireBytes) const
    {
        return wireBytes > m_first && (m_kinds.size() == 1 || wireBytes > GetKind(path).first);
    }

    const Path& Know(uint32_t id);
    uint64_t GetOfLarge(uint32_t path, uint64_t wireBytes, uint64_t at);
    uint64_t CountGaps(uint32_t path, uint64_t wireBytes);
    static uint64_t CountFullGaps(double left, const WindowSize& full);
    uint64_t GetGap(uint32_t path) const;
    bool IsInRing(const Path& path, uint64_t at) const;

    const MessageFabric& m_fabric;
    std::vector<Kind> m_kinds;    //!< one for each transport
    uint64_t m_first{UINT64_MAX}; //!< the smallest first window of all of them
    std::vector<Link> m_links;    //!< empty before the first large message; so is the next one
    std::vector<Path> m_paths;
};

} // namespace cosim

#endif // COSIM_ACK_STALLS_H
