/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MAX_FLOW_H
#define COSIM_MAX_FLOW_H

#include <cstdint>
#include <limits>
#include <vector>

namespace cosim
{

/**
 * Greatest flows between two nodes of a capacitated digraph (Dinic's algorithm).
 *
 * Capacities may change between runs, so that one object serves many similar problems. SciPy's
 * maximum_flow takes 5 times as long for the flows from one of 512 nodes with 8 links to each other
 * one, and its capacities have 32 bits.
 */
class MaxFlow
{
  public:
    static constexpr int64_t UNLIMITED = std::numeric_limits<int64_t>::max() / 4;

    /// @param nodes number of nodes
    explicit MaxFlow(uint32_t nodes);

    /**
     * Adds an arc. Arcs are numbered from 0.
     *
     * @param source, target ends of the arc
     * @param capacity greatest flow on the arc
     */
    void AddArc(uint32_t source, uint32_t target, int64_t capacity);

    /// @return the number of arcs
    uint32_t GetArcs() const;

    /// Removes the last arcs until `arcs` are left.
    void Shrink(uint32_t arcs);

    void SetCapacity(uint32_t arc, int64_t capacity);
    int64_t GetCapacity(uint32_t arc) const;

    /**
     * Finds a flow from scratch.
     *
     * @param source, target two different nodes
     * @param limit value of the flow at which the search may end
     * @return the value of the flow, at most `limit`; the greatest flow if that is less
     */
    int64_t Run(uint32_t source, uint32_t target, int64_t limit = UNLIMITED);

    /// @return the flow of an arc after Run
    int64_t GetFlow(uint32_t arc) const;

    /**
     * @param node a node
     * @return whether the node is on the source's side of the minimum cut, if Run ended below its
     * limit
     */
    bool IsOnSourceSide(uint32_t node) const;

  private:
    bool FindLevels(uint32_t source, uint32_t target);
    int64_t Advance(uint32_t node, uint32_t target, int64_t amount);

    /// A half-arc; arc i has the halves 2i (forward) and 2i+1 (backward).
    struct Half
    {
        uint32_t target;
        int64_t room;
    };

    std::vector<std::vector<uint32_t>> m_halvesOf; //!< for each node, the halves that leave it
    std::vector<Half> m_halves;
    std::vector<int64_t> m_capacity;
    std::vector<uint32_t> m_level; //!< hops from the source, or UINT32_MAX
    std::vector<uint32_t> m_next;  //!< for each node, the half at which Advance continues
    std::vector<uint32_t> m_queue;
};

} // namespace cosim

#endif // COSIM_MAX_FLOW_H
