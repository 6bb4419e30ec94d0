/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_DISJOINT_SETS_H
#define COSIM_DISJOINT_SETS_H

#include <cstdint>
#include <numeric>
#include <vector>

namespace cosim
{

/// Sets of ids, each id in one of them, that can be united.
class DisjointSets
{
  public:
    /// @param size number of ids; each is a set at first
    explicit DisjointSets(uint32_t size)
        : m_parent(size)
    {
        std::iota(m_parent.begin(), m_parent.end(), 0U);
    }

    /// @return the smallest id of the set that contains an id
    uint32_t Find(uint32_t id)
    {
        while (m_parent[id] != id)
        {
            m_parent[id] = m_parent[m_parent[id]];
            id = m_parent[id];
        }
        return id;
    }

    /// Unite the sets of two ids. @return whether they were different
    bool Unite(uint32_t a, uint32_t b)
    {
        a = Find(a);
        b = Find(b);
        m_parent[a > b ? a : b] = a > b ? b : a;
        return a != b;
    }

  private:
    std::vector<uint32_t> m_parent;
};

} // namespace cosim

#endif // COSIM_DISJOINT_SETS_H
