/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BACKWARD_SEARCH_H
#define COSIM_BACKWARD_SEARCH_H

#include "link-table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Breadth-first search against the links from one node u: the layers of nodes by their distance to
 * u and, for each node, through which of u's in-links its shortest paths to u arrive.
 *
 * A node's in-links are a bit mask of GetWords() words, bit i being the i-th in-link of u. Masks
 * follow from the next layer's, so that one search costs a look at every link, whatever the degree.
 */
class BackwardSearch
{
  public:
    /// A set of nodes of one layer whose shortest paths arrive through the same in-links.
    struct Group
    {
        const uint64_t* mask; //!< the in-links, valid until the next Run
        uint32_t nodes;       //!< how many nodes
    };

    /**
     * @param links the digraph; must outlive this
     */
    explicit BackwardSearch(const LinkTable& links);

    /**
     * Search from a node.
     *
     * @param root u
     */
    void Run(uint32_t root);

    /// @return the distance of the farthest node that was reached
    uint32_t GetDepth() const;

    /// @return the number of nodes that were reached, the root not counted
    uint32_t GetReached() const;

    /// @return words of a mask
    uint32_t GetWords() const;

    /**
     * @param distance from 1 to GetDepth()
     * @return the nodes at that distance, in the order of discovery
     */
    std::span<const uint32_t> GetLayer(uint32_t distance) const;

    /**
     * @param node a node that was reached
     * @return its mask
     */
    const uint64_t* GetMask(uint32_t node) const;

    /**
     * Sort a layer into groups.
     *
     * @param distance from 1 to GetDepth()
     * @return the groups, ascending by mask; valid until the next call
     */
    std::span<const Group> FindGroups(uint32_t distance);

    /// @return of each node of the layer last sorted, its group's index
    std::span<const uint32_t> GetGroupOfNode() const;

  private:
    /**
     * @param mask a mask
     * @return the index of its group among m_groups, made if there is none yet
     */
    uint32_t InternGroup(const uint64_t* mask);

    const LinkTable& m_links;         //!< the digraph
    uint32_t m_words;                 //!< words of a mask
    bool m_isSmall;                   //!< whether a mask can index a table
    std::vector<uint32_t> m_distance; //!< of each node
    std::vector<uint64_t> m_masks;    //!< of each node
    std::vector<uint32_t> m_order;    //!< nodes in the order of discovery, without the root
    std::vector<uint32_t> m_begin;    //!< of each layer in m_order, and the end
    std::vector<Group> m_groups;      //!< of the layer last sorted
    std::vector<Group> m_unsorted;    //!< the same in the order of discovery
    std::vector<uint32_t> m_groupOf;  //!< of each node of the layer last sorted
    std::vector<uint32_t> m_table;    //!< hash table: group index plus one, or 0
    std::vector<uint32_t> m_rank;     //!< place of each discovered group among the sorted
};

} // namespace cosim

#endif // COSIM_BACKWARD_SEARCH_H
