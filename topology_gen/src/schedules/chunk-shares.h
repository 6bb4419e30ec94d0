/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CHUNK_SHARES_H
#define COSIM_CHUNK_SHARES_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// The paths of pairs of nodes. Each path uses classes of links, some of them several times.
struct PairPaths
{
    std::span<const uint32_t> pairBegin; //!< start of each pair's paths, and the end
    std::span<const uint32_t> useBegin;  //!< start of each path's uses, and the end
    std::span<const uint32_t> kind;      //!< for each use, the class; ascending in a path
    std::span<const uint32_t> times;     //!< for each use, how often the path uses the class
};

/**
 * Gives the chunks of every pair of nodes to its paths such that classes of links carry even loads.
 */
class ChunkShares
{
  public:
    /**
     * @param paths the paths
     * @param kinds number of classes
     * @param given for each path, its number of chunks, rounded down
     * @throws std::invalid_argument if a number of the paths is out of range
     */
    ChunkShares(const PairPaths& paths, uint32_t kinds, std::span<const uint32_t> given);

    /**
     * Gives the chunks that were lost by rounding down to the least loaded paths that lost some.
     *
     * @param isRounded for each path, whether it lost some
     * @param chunks number of chunks of every pair that has paths
     */
    void GiveRest(std::span<const uint8_t> isRounded, uint32_t chunks);

    /**
     * Moves chunks to other paths of their pair, as long as the most loaded class that a move
     * affects is less loaded afterwards.
     *
     * @param rounds greatest number of passes over all pairs
     */
    void Level(uint32_t rounds);

    /// @return for each path, its number of chunks
    const std::vector<uint32_t>& GetGiven() const;

    /// @return the load of the most loaded class
    uint64_t GetGreatestLoad() const;

  private:
    /// Adds chunks to the loads of a path's classes; a negative number takes them away.
    void Add(uint32_t path, int64_t chunks);

    /// @return the load of the most loaded class of a path
    int64_t GetFullest(uint32_t path) const;

    /// @return the number of links of a path
    uint32_t GetHops(uint32_t path) const;

    /// @return whether moving a chunk lowers the greatest load of the classes that it affects
    bool IsEvener(uint32_t source, uint32_t target) const;

    PairPaths m_paths;             //!< the paths
    std::vector<uint32_t> m_given; //!< for each path, its number of chunks
    std::vector<int64_t> m_loads;  //!< for each class, its load in chunks
};

} // namespace cosim

#endif // COSIM_CHUNK_SHARES_H
