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
 * The links of a digraph, found by the node that they end at. Parallel links and self-loops are
 * links as any other.
 */
class LinkTable
{
  public:
    /// A link as its end sees it.
    struct InLink
    {
        uint32_t from; //!< the node at the other end
        uint32_t link; //!< its id
    };

    /**
     * @param nodes number of nodes
     * @param source node that each link leaves
     * @param target node that each link enters
     * @throws std::invalid_argument if the two differ in length or name a node that is not there
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
     * @return the links that enter it, by id
     */
    std::span<const InLink> GetInLinks(uint32_t node) const;

  private:
    std::vector<std::size_t> m_begin; //!< of each node's links in m_inLinks, and the end
    std::vector<InLink> m_inLinks;    //!< by node, then by id
};

} // namespace cosim

#endif // COSIM_LINK_TABLE_H
