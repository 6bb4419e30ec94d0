/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SLOT_POOL_H
#define COSIM_SLOT_POOL_H

#include "support/huge-allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * A pool of items that are identified by the number of their slot. It never has more slots than
 * were in use at the same time, and an item stays where it is.
 *
 * A reused slot still holds its previous item, so an item can keep its own memory.
 *
 * @tparam T type of the items
 */
template <typename T>
class SlotPool
{
  public:
    /// @return the slot that was returned last, or a new slot
    uint32_t Take()
    {
        if (m_free.empty())
        {
            if (m_blocks.empty() || m_blocks.back().size() == m_blocks.back().capacity())
            { // as many items as there are: few for a small simulation
                m_blocks.emplace_back().reserve(std::max(m_items.size(), FIRST_ITEMS));
            }
            m_items.push_back(&m_blocks.back().emplace_back());
            return static_cast<uint32_t>(m_items.size() - 1);
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
        return m_items.size() - m_free.size();
    }

    /// @return the number of slots, whether taken or not
    std::size_t GetCount() const
    {
        return m_items.size();
    }

    /// @return the item in a slot
    T& operator[](uint32_t slot)
    {
        return *m_items[slot];
    }

    /// @return the item in a slot
    const T& operator[](uint32_t slot) const
    {
        return *m_items[slot];
    }

  private:
    static constexpr std::size_t FIRST_ITEMS = 4;

    std::vector<T*> m_items;             //!< by slot
    std::vector<HugeVector<T>> m_blocks; //!< none of them grows beyond its capacity
    std::vector<uint32_t> m_free;
};

} // namespace cosim

#endif // COSIM_SLOT_POOL_H
