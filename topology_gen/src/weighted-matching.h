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
 * A matching of greatest weight in a general graph: Edmonds' blossom algorithm, with whole numbers.
 *
 * The search grows alternating trees from all single nodes at once. Outer nodes stand at an even
 * distance from a root, inner ones at an odd one. The duals change until an edge gets tight, which
 * adds a node to a tree, closes an odd cycle (a blossom, from then on like one node) or joins two
 * trees, along whose paths the matching then grows by an edge. Best edges are kept for each node,
 * so that a change costs O(nodes), and everything O(nodes³).
 *
 * Source: Z. Galil, "Efficient algorithms for finding maximum matching in graphs", ACM Computing
 * Surveys 18(1), 1986.
 */
class WeightedMatching
{
  public:
    static constexpr int32_t NONE = -1; //!< no node

    /**
     * @param nodes number of nodes
     * @param first,second the ends of each edge, two different nodes
     * @param weight of each edge, 1 … 2⁵⁵
     */
    WeightedMatching(int32_t nodes,
                     std::span<const int32_t> first,
                     std::span<const int32_t> second,
                     std::span<const int64_t> weight);

    /// Find the matching.
    void Run();

    /// @return of each node the one it is matched with, or NONE
    std::span<const int32_t> GetMates() const;

    /**
     * @return twice the dual of each node: those of an edge's ends sum up to at least twice its
     * weight, unless both are in one blossom. An edge that is not in the graph but keeps to that
     * could not make the matching heavier.
     */
    std::span<const int64_t> GetDuals() const;

  private:
    /// What a node or blossom is in the search.
    enum class Label : uint8_t
    {
        FREE,
        OUTER,
        INNER,
    };

    /// What a change of the duals has led to.
    enum class Outcome : uint8_t
    {
        GOES_ON,
        ENLARGED, //!< the matching has an edge more
        HEAVIEST, //!< it cannot be made heavier
    };

    /// An edge with a direction; `from` is NONE where there is none.
    struct Arc
    {
        int32_t from = NONE;
        int32_t to = NONE;
    };

    /// An edge as one of its ends sees it.
    struct Neighbour
    {
        int32_t node;
        int64_t weight;
    };

    /// An odd cycle of nodes and blossoms; the arc i goes from child i to child i+1.
    struct Blossom
    {
        std::vector<int32_t> children;
        std::vector<Arc> arcs;
    };

    /// An outer node's, or a free node's, edge of least slack to an outer one.
    struct Best
    {
        int32_t outer = NONE;
        int64_t weight = 0;
    };

    /**
     * Grow the trees until the matching can be enlarged, and enlarge it.
     * @return false if it cannot be, so that it is the heaviest
     */
    bool RunStage();

    /// Look at the edges of the nodes that have become outer. @return whether that ended the stage
    bool ScanOuter();

    /// Take the edge from a node to a neighbour into account. @return whether that ended the stage
    bool ScanEdge(int32_t node, Neighbour neighbour);

    /// Change the duals by what makes the next edge tight or the next inner blossom dissolve.
    Outcome ChangeDuals();

    /// @return twice the slack of an edge between two nodes that are in no common blossom
    int64_t GetSlack(int32_t a, int32_t b, int64_t weight) const;

    /// Find an outer node's edge of least slack to another outer blossom, anew.
    void RefreshBest(int32_t node);

    /// Put the blossom of a node into a tree, reached by an arc; and an inner one's mate, too.
    void AssignLabel(int32_t node, Label label, int32_t from);

    /// Treat a tight edge between outer nodes. @return whether the matching was enlarged
    bool JoinOuter(int32_t a, int32_t b);

    /// @return the blossom where the ways from two outer nodes to their roots meet, or NONE
    int32_t FindMeeting(int32_t a, int32_t b);

    void AddBlossom(int32_t meeting, int32_t a, int32_t b);
    void ExpandBlossom(int32_t blossom, bool endOfStage);

    /// Label what an inner blossom consists of again, when it dissolves during a stage.
    void RelabelChildren(int32_t blossom);

    /// Exchange matched and other edges in a blossom between a node of it and its base.
    void AugmentBlossom(int32_t blossom, int32_t node);

    /// The same from both ends of an edge to the roots of their trees.
    void AugmentPath(int32_t a, int32_t b);

    /// @return the index of the child that holds a node
    int32_t FindChild(int32_t blossom, int32_t node) const;

    /// Append all nodes of a blossom to m_leaves, which is cleared.
    void CollectLeaves(int32_t blossom);

    bool IsBlossom(int32_t id) const;

    int32_t m_nodes;
    std::vector<uint32_t> m_begin;       //!< of each node's neighbours, and the end
    std::vector<Neighbour> m_neighbours; //!< by node
    std::vector<int32_t> m_mate;
    std::vector<int64_t> m_dual; //!< of nodes and, halved, of blossoms

    // Of nodes and of blossoms, which follow them.
    std::vector<Label> m_label;
    std::vector<Arc> m_reached;    //!< the arc over which it was labelled
    std::vector<int32_t> m_parent; //!< the blossom that it is directly in
    std::vector<int32_t> m_base;   //!< the node of it that is matched outside, or not at all
    std::vector<bool> m_passed;    //!< of FindMeeting

    std::vector<int32_t> m_top; //!< of each node: the outermost blossom around it, or itself
    std::vector<Best> m_best;   //!< of each node
    std::vector<Blossom> m_blossoms;
    std::vector<int32_t> m_unused; //!< ids of blossoms
    std::vector<int32_t> m_queue;  //!< outer nodes to scan
    std::vector<int32_t> m_leaves; //!< of CollectLeaves
    std::vector<int32_t> m_stack;  //!< of CollectLeaves
};

} // namespace cosim

#endif // COSIM_WEIGHTED_MATCHING_H
