/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_TABLE_H
#define COSIM_PATH_TABLE_H

#include "stream/validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
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
    /**
     * @param pairs one entry per path: its pair of ranks (see PairOf), sorted
     * @param flowsPerPair number of paths that each route of a message stands for; 0 means 1
     */
    PathTable(std::vector<uint64_t> pairs, uint32_t flowsPerPair)
        : m_pairs(std::move(pairs)),
          m_flowsPerPair(std::max(flowsPerPair, 1U))
    {
    }

    /**
     * Check that two ranks have paths in both directions: one for data and one for acknowledgments.
     *
     * @param source one rank
     * @param target the other rank
     * @param user function that returns the name of the object that needs the paths; called only on
     * failure
     * @param route route of the messages
     * @throws std::invalid_argument if a path is missing
     */
    template <typename User>
    void RequireBothWays(uint32_t source,
                         uint32_t target,
                         const User& user,
                         uint32_t route = 0) const
    {
        const uint64_t last = (uint64_t{route} + 1) * m_flowsPerPair - 1;
        const bool isThere = Contains(PairOf(source, target), last);
        if (!isThere || !Contains(PairOf(target, source), last))
        {
            RefuseRoute(isThere ? target : source, isThere ? source : target, user(), last);
        }
    }

  private:
    /// Separate, so that the search above remains small.
    [[noreturn]] static void RefuseRoute(uint32_t source,
                                         uint32_t target,
                                         const std::string& user,
                                         uint64_t route)
    {
        Refuse("topology: no path from rank {} to rank {}, but {} needs one (both ways: data and "
               "acknowledgements) as route {}",
               {source, target, user, route});
    }

    bool Contains(uint64_t pair, uint64_t path) const
    {
        const auto first = std::lower_bound(m_pairs.begin(), m_pairs.end(), pair);
        const auto paths = static_cast<uint64_t>(m_pairs.end() - first);
        return paths > path && *(first + static_cast<std::ptrdiff_t>(path)) == pair;
    }

    std::vector<uint64_t> m_pairs;
    uint32_t m_flowsPerPair;
};

} // namespace cosim

#endif // COSIM_PATH_TABLE_H
