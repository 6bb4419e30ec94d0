/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TARGET_SEARCH_H
#define COSIM_TARGET_SEARCH_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

/// A digraph with costs, where paths enter and leave some nodes at different places.
struct CostView
{
    std::size_t nodes;  //!< number of nodes, which links leave
    std::size_t places; //!< number of places that links enter; the first are the nodes
    std::span<const uint32_t> source; //!< for each link, the node that it leaves
    std::span<const uint32_t> target; //!< for each link, the node that it enters
    std::span<const uint32_t> place;  //!< for each link, the place that it enters
    std::span<const double> cost;     //!< for each link, its cost, a whole number above 0
};

/**
 * Finds the costs of the shortest paths from some nodes to a target, by Dijkstra's algorithm.
 *
 * The search ends when it has reached these nodes. It does not look at places that are farther, so
 * near nodes of a large network take little time.
 */
class TargetSearch
{
  public:
    /**
     * @param links the digraph; must outlive this object
     * @throws std::invalid_argument if a node or place does not exist, or a cost is not positive
     */
    explicit TargetSearch(const CostView& links);

    /**
     * Search the paths to a target.
     *
     * @param target the place at which the paths end
     * @param sources the nodes at which they begin
     */
    void Run(uint32_t target, std::span<const uint32_t> sources);

    /// @return the places that the search has reached, by their cost
    std::span<const uint32_t> GetReached() const
    {
        return m_reached;
    }

    /**
     * @param place a place
     * @return the cost of the shortest path from there, or infinity if there is none. If the place
     * is farther than all sources, the cost can be too large, but not too small.
     */
    double GetCost(uint32_t place) const
    {
        return m_cost[place];
    }

    /// @return true if a shortest path from a node with a cost begins with a link
    bool IsNext(uint32_t link, double cost) const
    {
        return m_cost[m_links.place[link]] + m_links.cost[link] == cost;
    }

    /// @return the digraph
    const CostView& GetLinks() const
    {
        return m_links;
    }

    /// @return the links that leave a node, in the order of their ids
    std::span<const uint32_t> GetOut(uint32_t node) const
    {
        return std::span(m_out).subspan(m_outBegin[node], m_outBegin[node + 1] - m_outBegin[node]);
    }

  private:
    using Labelled = std::pair<double, uint32_t>; //!< cost and place

    void Relax(uint32_t place, double cost);
    void Label(uint32_t place, double cost);

    const CostView m_links;
    std::vector<std::size_t> m_outBegin; //!< for each node, its first link in m_out; and the end
    std::vector<uint32_t> m_out;         //!< links by the node that they leave
    std::vector<std::size_t> m_inBegin;  //!< for each place, its first link in m_in; and the end
    std::vector<uint32_t> m_in;          //!< links by the place that they enter
    std::vector<double> m_cost;          //!< for each place
    std::vector<char> m_isReached;       //!< for each place
    std::vector<char> m_isSource;        //!< for each place
    std::vector<uint32_t> m_labelled;    //!< places with a cost
    std::vector<uint32_t> m_reached;
    std::vector<Labelled> m_heap; //!< places to look at; the one with the least cost is first
};

} // namespace cosim

#endif // COSIM_TARGET_SEARCH_H
