/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BFB_H
#define COSIM_BFB_H

#include "graphs/link-table.h"
#include "schedules/backward-search.h"
#include "schedules/balanced-flow.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace cosim
{

/**
 * The sends of a schedule, ordered by step, then by receiver. Send i moves the chunks first[i] …
 * first[i]+count[i]-1 of shard[i] over link[i].
 */
struct Sends
{
    std::vector<uint64_t> stepBegin;   //!< start of each step's sends, and the end
    std::unique_ptr<uint32_t[]> link;  //!< no vector, which would first write zeros;
    std::unique_ptr<uint32_t[]> shard; //!< for 10^8 sends that takes as long as the search
    std::unique_ptr<uint32_t[]> first;
    std::unique_ptr<uint32_t[]> count;
};

/**
 * The breadth-first-broadcast all-gather of a digraph: in step t, every node u receives the shards
 * of all nodes at distance t over its in-links on shortest paths, with balanced links.
 *
 * The balancing problem of u in step t depends only on its pattern: which sets of its in-links
 * serve how many nodes. Nodes of a symmetric graph share patterns, and each pattern is solved once.
 */
class Bfb
{
  public:
    /**
     * Finds and solves all patterns.
     *
     * @param links the digraph
     * @param roots number of receivers 0 … roots-1 to examine; 1 is enough for a vertex-transitive
     *              digraph
     * @throws std::invalid_argument if a node cannot reach another
     */
    Bfb(LinkTable links, uint32_t roots);

    Bfb(const Bfb&) = delete; // because m_keys points into m_index
    Bfb& operator=(const Bfb&) = delete;

    /// @return the number of steps
    uint32_t GetSteps() const;

    /// @return the digraph
    const LinkTable& GetLinkTable() const;

    /// @return the sum of the distances from all nodes to all roots
    uint64_t GetDistanceSum() const;

    /**
     * @param root a receiver
     * @param step a step, counted from 1
     * @return the index of the root's pattern in the step; 0 if it receives nothing
     */
    uint32_t GetPattern(uint32_t root, uint32_t step) const;

    /// @return for each pattern, the least possible load of the most loaded link, in shards
    const std::vector<Ratio>& GetLeastLoads() const;

    /**
     * Makes the schedule; all nodes must have been roots.
     *
     * @param chunks number of chunks per shard
     * @return the sends; no link carries more than U·chunks, rounded up, in a step
     * @throws std::invalid_argument if there are too many sends for the memory
     */
    Sends MakeSends(uint32_t chunks) const;

  private:
    /// How a pattern's chunks are spread: for each group, the arcs that carry any.
    struct Spread
    {
        std::vector<uint32_t> begin; //!< start of each group's arcs, and the end
        std::vector<BalancedFlow::Arc> arcs;
        uint64_t sends; //!< number of sends that the pattern makes
    };

    /**
     * @param key a pattern
     * @return the index of the pattern, which is solved if it is new
     */
    uint32_t InternPattern(const std::vector<uint64_t>& key);

    /**
     * @param pattern the index of a pattern
     * @param chunks number of chunks per shard
     * @return the spread of the pattern's chunks
     */
    Spread SpreadPattern(uint32_t pattern, uint32_t chunks) const;

    LinkTable m_links;                                 //!< the digraph
    uint32_t m_words;                                  //!< number of words of a mask
    std::map<std::vector<uint64_t>, uint32_t> m_index; //!< from pattern to index
    std::vector<const std::vector<uint64_t>*> m_keys;  //!< from index to pattern
    std::vector<Ratio> m_leastLoads;                   //!< for each pattern, its least load
    std::vector<uint32_t> m_patterns;                  //!< by root, then step; without empty ones
    std::vector<std::size_t> m_begin;                  //!< start of each root's patterns
    uint32_t m_steps{0};                               //!< the diameter
    uint64_t m_distanceSum{0};                         //!< sum of distances to all roots
};

} // namespace cosim

#endif // COSIM_BFB_H
