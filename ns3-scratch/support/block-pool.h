/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BLOCK_POOL_H
#define COSIM_BLOCK_POOL_H

#include "support/huge-allocator.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace cosim
{

/**
 * A pool of blocks of memory. A block stays where it is, and its items keep their values when it is
 * given back. The pool never has more blocks than were in use at the same time.
 *
 * @tparam T type of the items
 * @tparam SIZE number of items of a block
 */
template <typename T, std::size_t SIZE>
class BlockPool
{
  public:
    /// @return the block that was returned last, or a new block
    T* Take()
    {
        if (m_free.empty())
        {
            if (m_slabs.empty() || m_slabs.back().size() == m_slabs.back().capacity())
            { // as many blocks as there are: few for a small simulation
                m_slabs.emplace_back().reserve(std::max(m_count, FIRST_BLOCKS) * SIZE);
            }
            HugeVector<T>& slab = m_slabs.back();
            slab.resize(slab.size() + SIZE);
            ++m_count;
            return slab.data() + slab.size() - SIZE;
        }
        T* const block = m_free.back();
        m_free.pop_back();
        return block;
    }

    /// @param block a taken block that is no longer used
    void Return(T* block)
    {
        m_free.push_back(block);
    }

    /// @return the number of blocks, whether taken or not
    std::size_t GetCount() const
    {
        return m_count;
    }

    /// @return the number of taken blocks
    std::size_t GetTaken() const
    {
        return m_count - m_free.size();
    }

  private:
    static constexpr std::size_t FIRST_BLOCKS = 4;

    std::deque<HugeVector<T>> m_slabs; //!< none of them grows beyond its capacity
    std::vector<T*> m_free;
    std::size_t m_count{0};
};

} // namespace cosim

#endif // COSIM_BLOCK_POOL_H
