/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PARCELS_H
#define COSIM_PARCELS_H

#include "fabrics/message/wire-sizes.h"
#include "support/huge-allocator.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/// Packets that an estimator has to carry: those of a message, or a part of a parcel.
struct Cargo
{
    WireSize size; //!< its payload is that of the message that arrives with it, if there is one
    uint32_t path;
    uint32_t bundle; //!< bundle that it belongs to
};

/**
 * Collects the messages that are sent at one time, and joins those of one path.
 *
 * TCP writes such messages into its stream before it cuts segments, so short messages share
 * packets: they are one *parcel*. A parcel of P bytes has ceil(P/M) packets, and is sent as a
 * whole, at the place of its first message. It is divided into one cargo for each message with
 * which packets begin; these packets are the cargo. A message arrives with the cargo that contains
 * its last byte, so it also waits for what later messages add to its last packet.
 */
class Parcels
{
  public:
    /// A message that arrives with others.
    struct Passenger
    {
        uint32_t cargo;  //!< index of the cargo with which it arrives
        uint32_t bundle; //!< bundle that it belongs to
        uint64_t bytes;  //!< payload
    };

    /**
     * @param paths number of paths
     * @param formats sizes of the packets; must outlive this object
     */
    Parcels(std::size_t paths, const PacketFormats& formats);

    /**
     * Add a message.
     *
     * @param path its path
     * @param bytes its payload [bytes]
     * @param bundle bundle that it belongs to
     * @param at time at which it is sent [ps]
     */
    void Add(uint32_t path, uint64_t bytes, uint32_t bundle, uint64_t at);

    /// @return the number of paths that have carried a message
    uint64_t CountUsedPaths() const;

    /// @return true if there is no message
    bool IsEmpty() const
    {
        return m_messages.empty();
    }

    /**
     * Remove the messages that are sent at the time of the first message.
     *
     * @param cargo set to the cargo of these messages; cargo with which several messages arrive
     * belongs to no bundle
     * @param passengers set to the messages that arrive with such cargo, by cargo
     * @return the time at which they are sent [ps]
     */
    uint64_t Take(std::vector<Cargo>& cargo, std::vector<Passenger>& passengers);

  private:
    static constexpr uint32_t NONE = UINT32_MAX;

    struct Message
    {
        uint64_t at;    //!< [ps]
        uint64_t bytes; //!< payload
        uint32_t path;
        uint32_t bundle;
        uint32_t next; //!< next message of the parcel
        bool isFirst;  //!< true if it is the first message of its parcel
    };

    void Divide(uint32_t first, std::vector<Cargo>& cargo, std::vector<Passenger>& passengers);

    WireSizes& GetSizes(uint32_t path)
    {
        return m_sizes[m_formats.GetNumber(path)];
    }

    const PacketFormats& m_formats;
    std::vector<WireSizes> m_sizes; //!< by format
    std::vector<Message> m_messages;
    HugeVector<uint32_t> m_last; //!< by path: latest message, which may have been removed
};

} // namespace cosim

#endif // COSIM_PARCELS_H
