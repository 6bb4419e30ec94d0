/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BALANCED_FLOW_H
#define COSIM_BALANCED_FLOW_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A fraction in lowest terms.
struct Ratio
{
    uint64_t numerator;
    uint64_t denominator;
};

/**
 * The balancing problem of one node in one step: spread shards over in-links such that the most
 * loaded link carries least. The shards of a group may arrive over the same set of in-links.
 *
 * The least load U is the maximum over sets K of links of |shards that can only use K| / |K|.
 * Newton's method on the minimum cut finds it exactly, for any number of links.
 */
class BalancedFlow
{
  public:
    /// The amount that a group sends over one of its links.
    struct Arc
    {
        uint32_t group;
        uint32_t link;  //!< index among the node's in-links
        uint64_t units; //!< number of chunks, after Distribute
    };

    /**
     * @param pattern for each group, its mask and its number of shards
     * @param words number of words of a mask
     */
    BalancedFlow(std::span<const uint64_t> pattern, uint32_t words);

    /// @return the least load U, in shards
    Ratio FindLeastLoad();

    /**
     * Splits every shard into chunks and spreads the chunks over the links.
     *
     * @param chunks number of chunks per shard
     * @param capacity greatest number of chunks on a link, at least U·chunks
     * @return the arcs, ordered by group; the arcs of a group add up to its shards times `chunks`
     */
    std::span<const Arc> Distribute(uint64_t chunks, uint64_t capacity);

  private:
    /**
     * Sends as much as the capacities allow (Dinic's algorithm).
     *
     * @param unitsPerShard number of units per shard
     * @param capacity greatest number of units on a link
     * @return whether everything was sent; if not, the levels show the minimum cut
     */
    bool Push(uint64_t unitsPerShard, uint64_t capacity);

    /// @return whether a link with room can be reached from a group with units left
    bool FindLevels();

    /**
     * Sends units of a group along the levels.
     *
     * @param group a group
     * @param units number of units to send
     * @return the number of units that were sent
     */
    uint64_t Advance(uint32_t group, uint64_t units);

    std::vector<uint64_t> m_shards;     //!< for each group, its number of shards
    std::vector<Arc> m_arcs;            //!< ordered by group
    std::vector<uint32_t> m_begin;      //!< start of each group's arcs, and the end
    std::vector<uint32_t> m_into;       //!< indices of arcs, ordered by link
    std::vector<uint32_t> m_intoBegin;  //!< start of each link's arcs in m_into, and the end
    std::vector<uint64_t> m_left;       //!< for each group, the units not yet sent
    std::vector<uint64_t> m_room;       //!< for each link, the units that it can still carry
    std::vector<uint32_t> m_groupLevel; //!< distance from a group with units left, or UINT32_MAX
    std::vector<uint32_t> m_linkLevel;  //!< the same for links
    std::vector<uint32_t> m_nextArc;    //!< for each group, the arc at which Advance continues
    std::vector<uint32_t> m_nextInto;   //!< for each link, where Advance continues to take back
    std::vector<uint32_t> m_queue;      //!< the groups that FindLevels visits
};

} // namespace cosim

#endif // COSIM_BALANCED_FLOW_H
