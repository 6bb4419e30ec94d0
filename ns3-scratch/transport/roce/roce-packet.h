/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ROCE_PACKET_H
#define COSIM_ROCE_PACKET_H

#include "transport/telemetry.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace cosim
{

/// A packet of RoCE. Sequence numbers count the bytes of the flow.
struct RocePacket : ProbePacket
{
    enum class Type : uint8_t
    {
        DATA,
        ACK,  //!< everything before `sequence` has arrived
        NACK, //!< likewise, and the packet that begins there is missing
        CNP,  //!< congestion notification: a packet was marked
    };

    Type type;
    bool asksAck;      //!< DATA: the receiver is to acknowledge it at once
    bool isMarked;     //!< ACK, NACK: packets that it answers were marked
    uint64_t sequence; //!< DATA: of its first byte; ACK, NACK: the next byte that is expected
    uint64_t arrived;  //!< ACK, NACK: the first byte of the data packet that it answers
    int64_t sentPs;    //!< DATA: when it was sent; ACK, NACK: copied from the packet it answers
};

/// Allocates packets and reuses returned ones.
class RocePool
{
  public:
    /// @return a packet; the caller sets all fields except `telemetry`
    RocePacket* Take()
    {
        if (m_free.empty())
        {
            return &m_all.emplace_back();
        }
        RocePacket* const packet = m_free.back();
        m_free.pop_back();
        return packet;
    }

    /// @param packet a packet from this pool that is no longer used
    void Return(RocePacket* packet)
    {
        m_free.push_back(packet);
    }

    /// @return the number of packets in use
    std::size_t GetTaken() const
    {
        return m_all.size() - m_free.size();
    }

  private:
    std::deque<RocePacket> m_all;
    std::vector<RocePacket*> m_free;
};

} // namespace cosim

#endif // COSIM_ROCE_PACKET_H
