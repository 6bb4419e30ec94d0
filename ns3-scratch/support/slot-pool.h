/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SLOT_POOL_H
#define COSIM_SLOT_POOL_H

#include "support/huge-allocator.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A pool of items that are identified by the number of their slot. It never has more slots than
 * were in use at the same time.
 *
 * A reused slot still holds its previous item, so an item can keep its own memory.
 *
 * @tparam T type of the items
 * @tparam Slots HugeVector, or StableVector if references to items must stay valid across Take
 */
template <typename T, typename Slots = HugeVector<T>>
class SlotPool
{
  public:
    /// @return the slot that was returned last, or a new slot
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

    /// @param slot a taken slot that is no longer used
    void Return(uint32_t slot)
    {
        m_free.push_back(slot);
    }

    /// @return the number of taken slots
    std::size_t GetTaken() const
    {
        return m_slots.size() - m_free.size();
    }

    /// @return all slots, whether taken or not
    const Slots& GetSlots() const
    {
        return m_slots;
    }

    /// @return the item in a slot
    T& operator[](uint32_t slot)
    {
        return m_slots[slot];
    }

    /// @return the item in a slot
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
