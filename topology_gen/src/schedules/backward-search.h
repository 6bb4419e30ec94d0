/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BACKWARD_SEARCH_H
#define COSIM_BACKWARD_SEARCH_H

#include "graphs/link-table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * A breadth-first search against the direction of links, from one node u.
 *
 * It finds the layers of nodes by their distance to u and, for each node, the in-links of u over
 * which the node's shortest paths arrive.
 *
 * The in-links of a node are a bit mask of GetWords() words; bit i is the i-th in-link of u. A mask
 * follows from the masks of the next layer, so one search visits every link once at any degree.
 */
class BackwardSearch
{
  public:
    /// The nodes of one layer whose shortest paths arrive over the same in-links.
    struct Group
    {
        const uint64_t* mask; //!< the in-links; valid until the next Run
        uint32_t nodes;       //!< number of nodes
    };

    /**
     * @param links the digraph; must outlive this object
     */
    explicit BackwardSearch(const LinkTable& links);

    /**
     * Searches from a node.
     *
     * @param root the node u
     */
    void Run(uint32_t root);

    /// @return the distance of the farthest reached node
    uint32_t GetDepth() const;

    /// @return the number of reached nodes, without the root
    uint32_t GetReached() const;

    /// @return the number of words of a mask
    uint32_t GetWords() const;

    /**
     * @param distance a distance from 1 to GetDepth()
     * @return the nodes at this distance, in the order of discovery
     */
    std::span<const uint32_t> GetLayer(uint32_t distance) const;

    /**
     * @param node a reached node
     * @return its mask
     */
    const uint64_t* GetMask(uint32_t node) const;

    /**
     * Sorts a layer into groups.
     *
     * @param distance a distance from 1 to GetDepth()
     * @return the groups in ascending order of masks; valid until the next call
     */
    std::span<const Group> FindGroups(uint32_t distance);

    /// @return for each node of the last sorted layer, the index of its group
    std::span<const uint32_t> GetGroupOfNode() const;

  private:
    /**
     * @param mask a mask
     * @return the index of the mask's group in m_unsorted; the group is added if it is new
     */
    uint32_t InternGroup(const uint64_t* mask);

    const LinkTable& m_links;         //!< the digraph
    uint32_t m_words;                 //!< words of a mask
    bool m_isSmall;                   //!< whether a mask can index a table
    std::vector<uint32_t> m_distance; //!< for each node, its distance
    std::vector<uint64_t> m_masks;    //!< for each node, its mask
    std::vector<uint32_t> m_order;    //!< nodes in the order of discovery, without the root
    std::vector<uint32_t> m_begin;    //!< start of each layer in m_order, and the end
    std::vector<Group> m_groups;      //!< groups of the last sorted layer
    std::vector<Group> m_unsorted;    //!< the same groups in the order of discovery
    std::vector<uint32_t> m_groupOf;  //!< for each node of the last sorted layer, its group
    std::vector<uint32_t> m_table;    //!< hash table: group index plus one, or 0
    std::vector<uint32_t> m_rank;     //!< index in m_groups of each group in m_unsorted
};

} // namespace cosim

#endif // COSIM_BACKWARD_SEARCH_H
