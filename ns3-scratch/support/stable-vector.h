/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STABLE_VECTOR_H
#define COSIM_STABLE_VECTOR_H

#include <cstddef>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * A growing list of items that stay where they are, for items that are larger than a few cache
 * lines. An item is found with two loads; std::deque needs a division of the index too.
 */
template <typename T>
class StableVector
{
  public:
    /// Append an item.
    void emplace_back()
    {
        m_items.push_back(std::make_unique<T>());
    }

    /// @return the number of items
    std::size_t size() const
    {
        return m_items.size();
    }

    /// @return an item
    T& operator[](std::size_t index)
    {
        return *m_items[index];
    }

    /// @return an item
    const T& operator[](std::size_t index) const
    {
        return *m_items[index];
    }

  private:
    std::vector<std::unique_ptr<T>> m_items;
};

} // namespace cosim

#endif // COSIM_STABLE_VECTOR_H
