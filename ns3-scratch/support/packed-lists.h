/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PACKED_LISTS_H
#define COSIM_PACKED_LISTS_H

#include "support/huge-allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Lists of items in one array, any of which can be replaced. A list keeps the room of the longest
 * items that it had, so lists that change again and again do not grow the array.
 *
 * @tparam T type of the items
 */
template <typename T>
class PackedLists
{
  public:
    PackedLists() = default;

    /// @param lists number of lists, which are empty at first
    explicit PackedLists(std::size_t lists)
        : m_lists(lists)
    {
    }

    /// @return the number of lists
    std::size_t GetCount() const
    {
        return m_lists.size();
    }

    /// @return the items of a list; valid until a list changes
    std::span<const T> Get(uint32_t list) const
    {
        return std::span(m_items).subspan(m_lists[list].begin, m_lists[list].size);
    }

    /// @return the number of the first item of a list; those of the others follow
    uint32_t GetBegin(uint32_t list) const
    {
        return m_lists[list].begin;
    }

    /// @return the item of a number
    const T* GetItem(uint32_t number) const
    {
        return m_items.data() + number;
    }

    /// @return a number that is larger than those of all items
    std::size_t GetEnd() const
    {
        return m_items.size();
    }

    /**
     * Replace the items of a list.
     *
     * @param list the list
     * @param items the new items, which are not part of this object
     */
    void Set(uint32_t list, std::span<const T> items)
    {
        List& changed = m_lists[list];
        changed.size = static_cast<uint32_t>(items.size());
        if (changed.size > changed.room)
        {
            changed.begin = static_cast<uint32_t>(m_items.size());
            changed.room = changed.size;
            m_items.resize(m_items.size() + items.size());
        }
        std::copy(items.begin(), items.end(), m_items.begin() + changed.begin);
    }

  private:
    struct List
    {
        uint32_t begin{0}; //!< index in m_items
        uint32_t size{0};
        uint32_t room{0}; //!< number of items from begin on that belong to this list
    };

    std::vector<List> m_lists;
    HugeVector<T> m_items;
};

} // namespace cosim

#endif // COSIM_PACKED_LISTS_H
