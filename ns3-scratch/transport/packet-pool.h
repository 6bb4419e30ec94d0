/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKET_POOL_H
#define COSIM_PACKET_POOL_H

#include <deque>
#include <vector>

namespace cosim
{

/**
 * Allocates packets and reuses returned ones. It never holds more packets than were in use at the
 * same time.
 *
 * @tparam T type of the packets
 */
template <typename T>
class PacketPool
{
  public:
    /// @return a packet; a reused one is as it was returned
    T* Take()
    {
        if (m_free.empty())
        {
            return &m_all.emplace_back();
        }
        T* const packet = m_free.back();
        m_free.pop_back();
        return packet;
    }

    /// @param packet a packet from this pool that is no longer used
    void Return(T* packet)
    {
        m_free.push_back(packet);
    }

  private:
    std::deque<T> m_all;
    std::vector<T*> m_free;
};

} // namespace cosim

#endif // COSIM_PACKET_POOL_H
