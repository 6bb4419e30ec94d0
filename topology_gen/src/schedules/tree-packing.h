/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TREE_PACKING_H
#define COSIM_TREE_PACKING_H

#include "graphs/capacities.h"
#include "graphs/max-flow.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// Equal spanning trees that start at one node.
struct Tree
{
    uint32_t root;
    int64_t weight;              //!< number of equal trees, each of which takes 1 from its links
    std::vector<uint32_t> links; //!< the link into each other node; a node's link comes first
};

/**
 * Packs spanning trees into a digraph, such that no link is in more trees than its capacity.
 *
 * A tree grows link by link. A link may be added if all other trees can still be completed, which a
 * greatest flow decides; if only some of a bundle of equal trees may take the link, the bundle is
 * split. The trees exist if FindTightestCut finds no cut for the wanted numbers.
 *
 * Sources: K. Bérczi and A. Frank, "Packing arborescences", EGRES TR-2009-04; L. Zhao et al.,
 * "ForestColl", arXiv 2402.06787.
 */
class TreePacking
{
  public:
    /**
     * @param graph a digraph
     * @param wanted for each node, the number of trees that start there
     * @throws std::invalid_argument if the arrays do not fit together
     */
    TreePacking(const Capacities& graph, std::span<const int64_t> wanted);

    /**
     * @return the trees
     * @throws std::invalid_argument if they do not exist
     */
    std::vector<Tree> Run();

  private:
    /// Trees that are equal so far.
    struct Bundle
    {
        Tree tree;
        std::vector<uint32_t> reached; //!< the nodes in the order in which they were reached
        std::vector<uint32_t> depth;   //!< for each of these, the number of links from the root
        std::vector<uint8_t> isReached;
        std::size_t next{0}; //!< the one of these whose links are tried next
    };

    /// Adds the links of a bundle's next node, and what it splits off to the unfinished bundles.
    void Grow(Bundle& bundle);

    /// Adds a link to a bundle if its target is new and all other trees can still be completed.
    void Extend(Bundle& bundle, uint32_t link);

    /// @return the number of trees of a bundle, which is not among the unfinished, that may take a
    /// link
    int64_t FindRoom(const Bundle& bundle, uint32_t link);

    uint32_t m_nodes;
    std::vector<uint32_t> m_source;
    std::vector<uint32_t> m_target;
    std::vector<int64_t> m_left;                //!< for each link, its capacity that is not used
    std::vector<std::vector<uint32_t>> m_outOf; //!< for each node, its links
    std::vector<Bundle> m_unfinished;
};

} // namespace cosim

#endif // COSIM_TREE_PACKING_H
