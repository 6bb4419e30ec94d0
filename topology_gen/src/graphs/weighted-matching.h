/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WEIGHTED_MATCHING_H
#define COSIM_WEIGHTED_MATCHING_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * A matching of greatest weight in a general graph: Edmonds' blossom algorithm with integers.
 *
 * The search grows alternating trees from all single nodes at once. Outer nodes are at an even
 * distance from a root, inner nodes at an odd distance. The duals change until an edge becomes
 * tight. The edge adds a node to a tree, closes an odd cycle (a blossom, which is then treated like
 * one node), or joins two trees, in which case the matching grows by one edge along their paths.
 * The best edge of each node is kept, so that a change of duals takes O(nodes) and the whole
 * algorithm O(nodes³).
 * rustworkx takes 2.5, 3.5 and 10 times as long for complete graphs of 128, 256 and 512 nodes,
 * and networkx 300 times. Neither gives the duals, by which the caller finds missing edges.
 * Source: Z. Galil, "Efficient algorithms for finding maximum matching in graphs", ACM Computing
 * Surveys 18(1), 1986.
 */
class WeightedMatching
{
  public:
    static constexpr int32_t NONE = -1; //!< no node

    /**
     * @param nodes number of nodes
     * @param first,second for each edge, its two ends, which must differ
     * @param weight for each edge, its weight, 1 … 2⁵⁵
     */
    WeightedMatching(int32_t nodes,
                     std::span<const int32_t> first,
                     std::span<const int32_t> second,
                     std::span<const int64_t> weight);

    /// Finds the matching.
    void Run();

    /// @return for each node, the node that it is matched with, or NONE
    std::span<const int32_t> GetMates() const;

    /**
     * @return for each node, twice its dual. The values at the ends of an edge add up to at least
     * twice the edge's weight, unless both ends are in one blossom. An edge outside the graph that
     * also satisfies this could not make the matching heavier.
     */
    std::span<const int64_t> GetDuals() const;

  private:
    /// The role of a node or blossom in the search.
    enum class Label : uint8_t
    {
        FREE,
        OUTER,
        INNER,
    };

    /// The result of a change of the duals.
    enum class Outcome : uint8_t
    {
        GOES_ON,
        ENLARGED, //!< the matching has one more edge
        HEAVIEST, //!< the matching is the heaviest
    };

    /// A directed edge; `from` is NONE if there is no edge.
    struct Arc
    {
        int32_t from = NONE;
        int32_t to = NONE;
    };

    /// An edge from the view of one of its ends.
    struct Neighbour
    {
        int32_t node;
        int64_t weight;
    };

    /// An odd cycle of nodes and blossoms; arc i goes from child i to child i+1.
    struct Blossom
    {
        std::vector<int32_t> children;
        std::vector<Arc> arcs;
    };

    /// The edge of least slack from an outer or free node to an outer node.
    struct Best
    {
        int32_t outer = NONE;
        int64_t weight = 0;
    };

    /**
     * Grows the trees until the matching can be enlarged, and enlarges it.
     * @return false if it cannot be enlarged, so that it is the heaviest
     */
    bool RunStage();

    /// Examines the edges of new outer nodes. @return whether the stage is over
    bool ScanOuter();

    /// Examines the edge from a node to a neighbour. @return whether the stage is over
    bool ScanEdge(int32_t node, Neighbour neighbour);

    /// Changes the duals until the next edge becomes tight or the next inner blossom dissolves.
    Outcome ChangeDuals();

    /// @return twice the slack of an edge between two nodes that share no blossom
    int64_t GetSlack(int32_t a, int32_t b, int64_t weight) const;

    /// Recomputes an outer node's edge of least slack to another outer blossom.
    void RefreshBest(int32_t node);

    /// Adds the blossom of a node to a tree, reached by an arc; also adds the mate of an inner one.
    void AssignLabel(int32_t node, Label label, int32_t from);

    /// Processes a tight edge between outer nodes. @return whether the matching was enlarged
    bool JoinOuter(int32_t a, int32_t b);

    /// @return the blossom in which the paths from two outer nodes to their roots meet, or NONE
    int32_t FindMeeting(int32_t a, int32_t b);

    void AddBlossom(int32_t meeting, int32_t a, int32_t b);
    void ExpandBlossom(int32_t blossom, bool endOfStage);

    /// Labels the children of an inner blossom that dissolves during a stage.
    void RelabelChildren(int32_t blossom);

    /// Exchanges matched and other edges in a blossom between one of its nodes and its base.
    void AugmentBlossom(int32_t blossom, int32_t node);

    /// Exchanges matched and other edges from both ends of an edge to the roots of their trees.
    void AugmentPath(int32_t a, int32_t b);

    /// @return the index of the child that contains a node
    int32_t FindChild(int32_t blossom, int32_t node) const;

    /// Sets m_leaves to all nodes of a blossom.
    void CollectLeaves(int32_t blossom);

    bool IsBlossom(int32_t id) const;

    int32_t m_nodes;
    std::vector<uint32_t> m_begin;       //!< start of each node's neighbours, and the end
    std::vector<Neighbour> m_neighbours; //!< ordered by node
    std::vector<int32_t> m_mate;
    std::vector<int64_t> m_dual; //!< twice the duals of nodes, then the duals of blossoms

    // The following have an entry for each node, and then one for each blossom.
    std::vector<Label> m_label;
    std::vector<Arc> m_reached;    //!< the arc by which it was labelled
    std::vector<int32_t> m_parent; //!< the innermost blossom around it
    std::vector<int32_t> m_base;   //!< its node that is matched outside, or not matched
    std::vector<bool> m_passed;    //!< marks of FindMeeting

    std::vector<int32_t> m_top; //!< for each node, the outermost blossom around it, or itself
    std::vector<Best> m_best;   //!< for each node, its best edge
    std::vector<Blossom> m_blossoms;
    std::vector<int32_t> m_unused; //!< ids of blossoms that are not in use
    std::vector<int32_t> m_queue;  //!< outer nodes to scan
    std::vector<int32_t> m_leaves; //!< result of CollectLeaves
    std::vector<int32_t> m_stack;  //!< stack of CollectLeaves
};

} // namespace cosim

#endif // COSIM_WEIGHTED_MATCHING_H
