/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// This half of WeightedMatching makes and dissolves blossoms and exchanges edges along paths.

#include "graphs/weighted-matching.h"

#include <algorithm>
#include <utility>

namespace cosim
{

bool
WeightedMatching::JoinOuter(int32_t a, int32_t b)
{
    const int32_t meeting = FindMeeting(a, b);
    if (meeting == NONE)
    {
        AugmentPath(a, b);
        return true;
    }
    AddBlossom(meeting, a, b);
    return false;
}

int32_t
WeightedMatching::FindMeeting(int32_t a, int32_t b)
{
    // The search goes up both trees in turns, two blossoms at a time, until it meets its own marks.
    std::vector<int32_t> marked;
    int32_t meeting = NONE;
    int32_t at = m_top[a];
    int32_t other = m_top[b];
    while (at != NONE)
    {
        if (m_passed[at])
        {
            meeting = at;
            break;
        }
        m_passed[at] = true;
        marked.push_back(at);
        const int32_t inner = m_reached[at].from;
        at = inner == NONE ? NONE : m_top[m_reached[m_top[inner]].from];
        if (other != NONE)
        {
            std::swap(at, other);
        }
    }
    for (const int32_t blossom : marked)
    {
        m_passed[blossom] = false;
    }
    return meeting;
}

void
WeightedMatching::AddBlossom(int32_t meeting, int32_t a, int32_t b)
{
    const int32_t blossom = m_unused.back();
    m_unused.pop_back();
    auto& [children, arcs] = m_blossoms[blossom];
    children.clear();
    arcs.assign(1, {a, b});
    // Collects the path from a up to the meeting point, reverses it, and appends the path from b.
    for (int32_t at = m_top[a]; at != meeting; at = m_top[m_reached[at].from])
    {
        children.push_back(at);
        arcs.push_back(m_reached[at]);
    }
    children.push_back(meeting);
    std::ranges::reverse(children);
    std::ranges::reverse(arcs);
    for (int32_t at = m_top[b]; at != meeting; at = m_top[m_reached[at].from])
    {
        children.push_back(at);
        arcs.push_back({m_reached[at].to, m_reached[at].from});
    }
    m_base[blossom] = m_base[meeting];
    m_parent[blossom] = NONE;
    m_label[blossom] = Label::OUTER;
    m_reached[blossom] = m_reached[meeting];
    m_dual[blossom] = 0;
    for (const int32_t child : children)
    {
        m_parent[child] = blossom;
        CollectLeaves(child);
        for (const int32_t leaf : m_leaves)
        {
            if (m_label[child] == Label::INNER)
            {
                m_queue.push_back(leaf);
            }
            m_top[leaf] = blossom;
        }
    }
}

void
WeightedMatching::ExpandBlossom(int32_t blossom, bool endOfStage)
{
    for (const int32_t child : m_blossoms[blossom].children)
    {
        m_parent[child] = NONE;
        m_label[child] = endOfStage ? Label::OUTER : Label::FREE;
        CollectLeaves(child);
        for (const int32_t leaf : m_leaves)
        {
            m_top[leaf] = child;
        }
    }
    if (endOfStage)
    {
        for (const int32_t child : std::vector(m_blossoms[blossom].children))
        {
            if (IsBlossom(child) && m_dual[child] == 0)
            {
                ExpandBlossom(child, true);
            }
        }
    }
    else
    {
        RelabelChildren(blossom);
    }
    m_base[blossom] = NONE;
    m_unused.push_back(blossom);
}

void
WeightedMatching::RelabelChildren(int32_t blossom)
{
    // The tree continues through the children between the one by which the blossom was reached and
    // its base, on the side with an even number of steps. The other children become free.
    const auto& [children, arcs] = m_blossoms[blossom];
    const auto size = static_cast<int32_t>(children.size());
    const auto [from, to] = m_reached[blossom];
    const auto entry =
        static_cast<int32_t>(std::ranges::find(children, m_top[to]) - children.begin());
    const int32_t step = entry % 2 == 0 ? -1 : 1;
    Arc reached{from, to};
    int32_t at = entry;
    while (at % size != 0)
    {
        AssignLabel(reached.to, Label::INNER, reached.from);
        at += step; // this child becomes outer
        const Arc& arc = arcs[step > 0 ? at : at - 1];
        reached = step > 0 ? arc : Arc{arc.to, arc.from};
        at += step;
    }
    // The mate of the base is outside the blossom and already labelled.
    const int32_t base = children[0];
    m_label[base] = Label::INNER;
    m_reached[base] = reached;
}

void
WeightedMatching::AugmentBlossom(int32_t blossom, int32_t node)
{
    auto& [children, arcs] = m_blossoms[blossom];
    const auto size = static_cast<int32_t>(children.size());
    const int32_t entry = FindChild(blossom, node);
    const auto descend = [this](int32_t child, int32_t leaf) {
        if (IsBlossom(child))
        {
            AugmentBlossom(child, leaf);
        }
    };
    descend(children[entry], node);
    const int32_t step = entry % 2 == 0 ? -1 : 1;
    for (int32_t at = entry; at % size != 0;)
    {
        at += step;
        const Arc& arc = arcs[step > 0 ? at : at - 1];
        const int32_t near = step > 0 ? arc.from : arc.to;
        const int32_t far = step > 0 ? arc.to : arc.from;
        descend(children[at % size], near);
        at += step;
        descend(children[at % size], far);
        m_mate[near] = far;
        m_mate[far] = near;
    }
    std::ranges::rotate(children, children.begin() + entry);
    std::ranges::rotate(arcs, arcs.begin() + entry);
    m_base[blossom] = node;
}

void
WeightedMatching::AugmentPath(int32_t a, int32_t b)
{
    for (auto [node, mate] : {std::pair{a, b}, std::pair{b, a}})
    {
        while (true)
        {
            const int32_t outer = m_top[node];
            if (IsBlossom(outer))
            {
                AugmentBlossom(outer, node);
            }
            m_mate[node] = mate;
            if (m_reached[outer].from == NONE)
            {
                break; // the root
            }
            const int32_t inner = m_top[m_reached[outer].from];
            const auto [from, to] = m_reached[inner];
            if (IsBlossom(inner))
            {
                AugmentBlossom(inner, to);
            }
            m_mate[to] = from;
            node = from;
            mate = to;
        }
    }
}

int32_t
WeightedMatching::FindChild(int32_t blossom, int32_t node) const
{
    int32_t child = node;
    while (m_parent[child] != blossom)
    {
        child = m_parent[child];
    }
    const auto& children = m_blossoms[blossom].children;
    return static_cast<int32_t>(std::ranges::find(children, child) - children.begin());
}

void
WeightedMatching::CollectLeaves(int32_t blossom)
{
    m_leaves.clear();
    m_stack.assign(1, blossom);
    while (!m_stack.empty())
    {
        const int32_t id = m_stack.back();
        m_stack.pop_back();
        if (IsBlossom(id))
        {
            const auto& children = m_blossoms[id].children;
            m_stack.insert(m_stack.end(), children.begin(), children.end());
        }
        else
        {
            m_leaves.push_back(id);
        }
    }
}

} // namespace cosim
