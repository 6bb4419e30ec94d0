/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BFB_H
#define COSIM_BFB_H

#include "backward-search.h"
#include "balanced-flow.h"
#include "link-table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * Sends of a schedule, by step, then by receiver. Send i moves chunks first[i] …
 * first[i]+count[i]-1 of the shard shard[i] over link[i].
 */
struct Sends
{
    std::vector<uint64_t> stepBegin;   //!< of each step's sends, and the end
    std::unique_ptr<uint32_t[]> link;  //!< not a vector: it would write its zeros first,
    std::unique_ptr<uint32_t[]> shard; //!< which for 10^8 sends takes as long as the search
    std::unique_ptr<uint32_t[]> first;
    std::unique_ptr<uint32_t[]> count;
};

/**
 * Breadth-first-broadcast allgather of a digraph: in step t every node u receives the shards of all
 * nodes at distance t, over its in-links on shortest paths, balanced.
 *
 * What u has to solve in step t depends only on which sets of its in-links serve how many nodes:
 * its pattern. Nodes of a symmetric graph share patterns, so each is solved once.
 */
class Bfb
{
  public:
    /**
     * Find all patterns.
     *
     * @param links the digraph
     * @param roots look at the nodes 0 … roots-1 as receivers only, which for a vertex-transitive
     *              digraph may be 1
     * @throws std::invalid_argument if a node is not reached from another
     */
    Bfb(LinkTable links, uint32_t roots);

    Bfb(const Bfb&) = delete; // m_keys points into m_index
    Bfb& operator=(const Bfb&) = delete;

    /// @return the number of steps
    uint32_t GetSteps() const;

    /// @return the digraph
    const LinkTable& GetLinkTable() const;

    /// @return the sum of the distances from all nodes to all roots
    uint64_t GetDistanceSum() const;

    /**
     * @param root a receiver
     * @param step from 1
     * @return the index of its pattern; 0 is that of nothing to receive
     */
    uint32_t GetPattern(uint32_t root, uint32_t step) const;

    /// @return of each pattern, the least possible load of the most loaded link, in shards
    const std::vector<Ratio>& GetLeastLoads() const;

    /**
     * Make the schedule; all nodes must have been looked at.
     *
     * @param chunks chunks of a shard
     * @return the sends; no link carries more than U·chunks in a step, rounded up
     * @throws std::invalid_argument if there are more sends than memory should hold
     */
    Sends MakeSends(uint32_t chunks) const;

  private:
    /// How a pattern's chunks are spread: per group, its arcs that carry anything.
    struct Spread
    {
        std::vector<uint32_t> begin; //!< of each group's arcs, and the end
        std::vector<BalancedFlow::Arc> arcs;
        uint64_t sends; //!< how many sends it makes
    };

    /**
     * @param key a pattern
     * @return its index
     */
    uint32_t InternPattern(const std::vector<uint64_t>& key);

    /**
     * @param pattern the index of a pattern
     * @param chunks chunks of a shard
     * @return its spread
     */
    Spread SpreadPattern(uint32_t pattern, uint32_t chunks) const;

    LinkTable m_links;                                 //!< the digraph
    uint32_t m_words;                                  //!< words of a mask
    std::map<std::vector<uint64_t>, uint32_t> m_index; //!< pattern to index
    std::vector<const std::vector<uint64_t>*> m_keys;  //!< index to pattern
    std::vector<Ratio> m_leastLoads;                   //!< of each pattern
    std::vector<uint32_t> m_patterns;                  //!< by root, then step; short of empty ones
    std::vector<std::size_t> m_begin;                  //!< of each root's patterns, and the end
    uint32_t m_steps{0};                               //!< the diameter
    uint64_t m_distanceSum{0};                         //!< from all nodes to all roots
};

} // namespace cosim

#endif // COSIM_BFB_H
