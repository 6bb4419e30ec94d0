/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_TABLE_H
#define COSIM_PATH_TABLE_H

#include "stream/validation.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace cosim
{

/// @return an ordered pair of ids as one number
inline uint64_t
PairOf(uint32_t source, uint32_t target)
{
    return static_cast<uint64_t>(source) << 32 | target;
}

/// The pairs of ranks that have paths.
class PathTable
{
  public:
    /// @param pairs one entry per path: its pair of ranks (see PairOf), sorted
    explicit PathTable(std::vector<uint64_t> pairs)
        : m_pairs(std::move(pairs))
    {
    }

    /**
     * Check that two ranks have paths in both directions: one for data and one for acknowledgments.
     *
     * @param source one rank
     * @param target the other rank
     * @param user function that returns the name of the object that needs the paths; called only on
     * failure
     * @param route index of the path among the paths of the pair
     * @throws std::invalid_argument if a path is missing
     */
    template <typename User>
    void RequireBothWays(uint32_t source,
                         uint32_t target,
                         const User& user,
                         uint32_t route = 0) const
    {
        const bool isThere = Contains(PairOf(source, target), route);
        if (!isThere || !Contains(PairOf(target, source), route))
        {
            Refuse("topology: no path from rank ",
                   isThere ? target : source,
                   " to rank ",
                   isThere ? source : target,
                   ", but ",
                   user(),
                   " needs one (both ways: data and acknowledgements) as route ",
                   route);
        }
    }

  private:
    bool Contains(uint64_t pair, uint32_t route) const
    {
        const auto first = std::lower_bound(m_pairs.begin(), m_pairs.end(), pair);
        return m_pairs.end() - first > route && *(first + route) == pair;
    }

    std::vector<uint64_t> m_pairs;
};

} // namespace cosim

#endif // COSIM_PATH_TABLE_H
