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
 * The work of one node in one step: groups of shards, each of which may arrive through any of a set
 * of in-links, spread so that the most loaded link carries least.
 *
 * The least load U is the maximum over sets K of links of |shards that can only use K| / |K|. It is
 * found by Newton's method on the minimum cut, exactly and for any number of links.
 */
class BalancedFlow
{
  public:
    /// What a group sends over one of its links.
    struct Arc
    {
        uint32_t group;
        uint32_t link;  //!< index among the node's in-links
        uint64_t units; //!< chunks, after Distribute
    };

    /**
     * @param pattern for each group its mask and then its number of shards
     * @param words words of a mask
     */
    BalancedFlow(std::span<const uint64_t> pattern, uint32_t words);

    /// @return U, in shards
    Ratio FindLeastLoad();

    /**
     * Cut every shard into chunks and spread these.
     *
     * @param chunks chunks of a shard
     * @param capacity most chunks that a link may carry: at least U·chunks
     * @return the arcs, by group; those of a group sum up to its shards times `chunks`
     */
    std::span<const Arc> Distribute(uint64_t chunks, uint64_t capacity);

  private:
    /**
     * Push as much as the capacities let through (Dinic's algorithm).
     *
     * @param unitsPerShard units that a shard is cut into
     * @param capacity most units that a link may carry
     * @return whether everything went through; if not, the levels tell the minimum cut
     */
    bool Push(uint64_t unitsPerShard, uint64_t capacity);

    /// @return whether a link with room can be reached from a group with units left
    bool FindLevels();

    /**
     * @param group a group
     * @param units how much of it to send on
     * @return how much was sent on
     */
    uint64_t Advance(uint32_t group, uint64_t units);

    std::vector<uint64_t> m_shards;     //!< of each group
    std::vector<Arc> m_arcs;            //!< by group
    std::vector<uint32_t> m_begin;      //!< of each group's arcs, and the end
    std::vector<uint32_t> m_into;       //!< arc indices by link
    std::vector<uint32_t> m_intoBegin;  //!< of each link's arcs in m_into, and the end
    std::vector<uint64_t> m_left;       //!< of each group: units not yet sent
    std::vector<uint64_t> m_room;       //!< of each link: units it can still take
    std::vector<uint32_t> m_groupLevel; //!< distance from a group with units left, or UINT32_MAX
    std::vector<uint32_t> m_linkLevel;  //!< the same of links
    std::vector<uint32_t> m_nextArc;    //!< of each group: where Advance goes on
    std::vector<uint32_t> m_nextInto;   //!< of each link: the same for taking back
    std::vector<uint32_t> m_queue;      //!< of FindLevels: groups
};

} // namespace cosim

#endif // COSIM_BALANCED_FLOW_H
