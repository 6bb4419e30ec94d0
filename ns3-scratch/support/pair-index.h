/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PAIR_INDEX_H
#define COSIM_PAIR_INDEX_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Which of a list of ordered pairs of ids is the one from a source to a target, without a hash.
 *
 * Each source has a row of a table, from its smallest to its largest target: all pairs take as much
 * as a square table, and neighbours only take little.
 */
class PairIndex
{
  public:
    /// No such pair.
    static constexpr uint32_t NONE = ~uint32_t{0};

    /**
     * @param ids how many ids there are
     * @param sources of each pair
     * @param targets of each pair
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
        { // the first of equal pairs stays
            const Row& row = m_rows[sources[i]];
            m_index[row.begin + (targets[i] - row.first)] = static_cast<uint32_t>(i);
        }
    }

    /**
     * @param source an id
     * @param target an id
     * @return the index of their pair in the list, the first if it stands there several times, or
     * NONE
     */
    uint32_t Find(uint32_t source, uint32_t target) const
    {
        const Row& row = m_rows[source];
        const uint32_t column = target - row.first; // huge if the target is before the first
        return column < row.size ? m_index[row.begin + column] : NONE;
    }

  private:
    /// The targets of a source.
    struct Row
    {
        std::size_t begin{0}; //!< into m_index
        uint32_t first{NONE}; //!< the smallest target
        uint32_t size{0};
    };

    std::vector<Row> m_rows;       //!< per source
    std::vector<uint32_t> m_index; //!< by row, then target
};

} // namespace cosim

#endif // COSIM_PAIR_INDEX_H
