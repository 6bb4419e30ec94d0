/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LINK_TABLE_H
#define COSIM_LINK_TABLE_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * The links of a digraph, ordered by the node that they enter. Parallel links and self-loops are
 * treated like any other link.
 */
class LinkTable
{
  public:
    /// A link that enters a node.
    struct InLink
    {
        uint32_t from; //!< the node that the link leaves
        uint32_t link; //!< the id of the link
    };

    /**
     * @param nodes number of nodes
     * @param source for each link, the node that it leaves
     * @param target for each link, the node that it enters
     * @throws std::invalid_argument if the two differ in length or name a node that does not exist
     */
    LinkTable(uint32_t nodes, std::span<const uint32_t> source, std::span<const uint32_t> target);

    /// @return the number of nodes
    uint32_t GetNodes() const;

    /// @return the number of links
    std::size_t GetLinks() const;

    /// @return the greatest number of links that enter one node
    uint32_t GetMaxInDegree() const;

    /**
     * @param node a node
     * @return the links that enter it, in ascending order of ids
     */
    std::span<const InLink> GetInLinks(uint32_t node) const;

  private:
    std::vector<std::size_t> m_begin; //!< start of each node's links in m_inLinks, and the end
    std::vector<InLink> m_inLinks;    //!< ordered by node, then by id
};

} // namespace cosim

#endif // COSIM_LINK_TABLE_H
