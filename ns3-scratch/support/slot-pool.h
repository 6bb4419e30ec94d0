/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SLOT_POOL_H
#define COSIM_SLOT_POOL_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Items that come and go, each known by the number of its slot: as many slots exist as were ever
 * taken at the same time.
 *
 * A slot that is taken again holds what it held before, so an item that has memory of its own can
 * keep it.
 *
 * @tparam T the items
 * @tparam Slots std::vector, or std::deque where references to items must survive Take
 */
template <typename T, typename Slots = std::vector<T>>
class SlotPool
{
  public:
    /// @return the slot that was given back last, or a new one
    uint32_t Take()
    {
        if (m_free.empty())
        {
            m_slots.emplace_back();
            return static_cast<uint32_t>(m_slots.size() - 1);
        }
        const uint32_t slot = m_free.back();
        m_free.pop_back();
        return slot;
    }

    /// @param slot taken, and no longer used
    void Return(uint32_t slot)
    {
        m_free.push_back(slot);
    }

    /// @return how many slots are taken
    std::size_t GetTaken() const
    {
        return m_slots.size() - m_free.size();
    }

    /// @return all slots, taken or not
    const Slots& GetSlots() const
    {
        return m_slots;
    }

    /// @return the item of a slot
    T& operator[](uint32_t slot)
    {
        return m_slots[slot];
    }

    /// @return the item of a slot
    const T& operator[](uint32_t slot) const
    {
        return m_slots[slot];
    }

  private:
    Slots m_slots;
    std::vector<uint32_t> m_free;
};

} // namespace cosim

#endif // COSIM_SLOT_POOL_H
