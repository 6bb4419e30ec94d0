/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ARRIVAL_ORDER_H
#define COSIM_ARRIVAL_ORDER_H

#include "network/network-statistics.h"
#include "transport/packet.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Counts the data packets that arrive after one of their flow that was sent later.
 *
 * A retransmission is a packet of its own here, so a lost packet is no reordered one.
 *
 * Source: A. Morton et al., "Packet reordering metrics", RFC 4737, section 3.
 */
class ArrivalOrder
{
  public:
    /// @param flows number of flows
    explicit ArrivalOrder(std::size_t flows)
        : m_flows(flows)
    {
    }

    /// Give a packet its number. Call it for each data packet in the order in which it is sent.
    void Send(Packet& packet)
    {
        packet.order = ++m_flows[packet.flow].sent;
    }

    /// Count a data packet that arrives at its receiver.
    void Arrive(const Packet& packet)
    {
        uint32_t& last = m_flows[packet.flow].last;
        const auto ahead = static_cast<int32_t>(packet.order - last); // numbers wrap
        if (ahead >= 0)
        {
            last = packet.order;
            return;
        }
        ++m_found.packets;
        const auto places = static_cast<uint64_t>(-static_cast<int64_t>(ahead));
        m_found.largestDisplacement = std::max(m_found.largestDisplacement, places);
    }

    /// @return what was counted so far
    const Reordering& Get() const
    {
        return m_found;
    }

  private:
    struct Flow
    {
        uint32_t sent{0}; //!< number of packets sent
        uint32_t last{0}; //!< largest number of a packet that has arrived
    };

    std::vector<Flow> m_flows;
    Reordering m_found;
};

} // namespace cosim

#endif // COSIM_ARRIVAL_ORDER_H
