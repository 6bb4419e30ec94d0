/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PAIR_INDEX_H
#define COSIM_PAIR_INDEX_H

#include "support/huge-allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Finds the index of an ordered pair of ids in a list of pairs, without a hash table.
 *
 * Each source has a row in a table, which reaches from its smallest to its largest target. If all
 * pairs exist, the table is square. If only neighbours are paired, it is small.
 */
class PairIndex
{
  public:
    /// Marks "no such pair".
    static constexpr uint32_t NONE = ~uint32_t{0};

    /**
     * @param ids number of ids
     * @param sources the source of each pair
     * @param targets the target of each pair
     */
    PairIndex(uint32_t ids,
              const std::vector<uint32_t>& sources,
              const std::vector<uint32_t>& targets)
        : m_rows(ids)
    {
        std::vector<uint32_t> last(ids);
        for (std::size_t i = 0; i < sources.size(); ++i)
        {
            Row& row = m_rows[sources[i]];
            row.first = std::min(row.first, targets[i]);
            last[sources[i]] = std::max(last[sources[i]], targets[i]);
        }
        std::size_t begin = 0;
        for (uint32_t source = 0; source < ids; ++source)
        {
            Row& row = m_rows[source];
            row.begin = begin;
            row.size = row.first == NONE ? 0 : last[source] - row.first + 1;
            begin += row.size;
        }
        m_index.assign(begin, NONE);
        for (std::size_t i = sources.size(); i-- > 0;)
        { // if a pair repeats, its first index remains
            const Row& row = m_rows[sources[i]];
            m_index[row.begin + (targets[i] - row.first)] = static_cast<uint32_t>(i);
        }
    }

    /**
     * @param source an id
     * @param target an id
     * @return the index of the pair in the list, or NONE. If the pair repeats, it is the first
     * index.
     */
    uint32_t Find(uint32_t source, uint32_t target) const
    {
        const Row& row = m_rows[source];
        // wraps to a large number if the target is below the first
        const uint32_t column = target - row.first;
        return column < row.size ? m_index[row.begin + column] : NONE;
    }

  private:
    /// The row of a source.
    struct Row
    {
        std::size_t begin{0}; //!< index in m_index
        uint32_t first{NONE}; //!< smallest target
        uint32_t size{0};
    };

    std::vector<Row> m_rows;      //!< per source
    HugeVector<uint32_t> m_index; //!< indexed by row, then by target
};

} // namespace cosim

#endif // COSIM_PAIR_INDEX_H
