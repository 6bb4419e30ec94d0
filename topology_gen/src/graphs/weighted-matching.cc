/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/weighted-matching.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace cosim
{

namespace
{

constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

} // namespace

WeightedMatching::WeightedMatching(int32_t nodes,
                                   std::span<const int32_t> first,
                                   std::span<const int32_t> second,
                                   std::span<const int64_t> weight)
    : m_nodes(nodes),
      m_begin(static_cast<std::size_t>(nodes) + 1),
      m_neighbours(2 * weight.size()),
      m_mate(static_cast<std::size_t>(nodes), NONE),
      m_dual(2 * static_cast<std::size_t>(nodes)),
      m_label(m_dual.size(), Label::FREE),
      m_reached(m_dual.size()),
      m_parent(m_dual.size(), NONE),
      m_base(m_dual.size(), NONE),
      m_passed(m_dual.size()),
      m_top(static_cast<std::size_t>(nodes)),
      m_best(static_cast<std::size_t>(nodes)),
      m_blossoms(m_dual.size())
{
    for (std::size_t edge = 0; edge < weight.size(); ++edge)
    {
        ++m_begin[static_cast<std::size_t>(first[edge]) + 1];
        ++m_begin[static_cast<std::size_t>(second[edge]) + 1];
    }
    std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
    std::vector<uint32_t> next(m_begin);
    for (std::size_t edge = 0; edge < weight.size(); ++edge)
    {
        m_neighbours[next[first[edge]]++] = {second[edge], weight[edge]};
        m_neighbours[next[second[edge]]++] = {first[edge], weight[edge]};
    }
    const int64_t heaviest = weight.empty() ? 0 : *std::ranges::max_element(weight);
    std::fill_n(m_dual.begin(), nodes, heaviest);
    std::iota(m_top.begin(), m_top.end(), 0);
    std::iota(m_base.begin(), m_base.begin() + nodes, 0);
    for (int32_t id = 2 * nodes; id-- > nodes;)
    {
        m_unused.push_back(id);
    }
}

void
WeightedMatching::Run()
{
    while (RunStage())
    {
        for (int32_t id = m_nodes; id < 2 * m_nodes; ++id)
        {
            if (m_base[id] != NONE && m_parent[id] == NONE && m_label[id] == Label::OUTER &&
                m_dual[id] == 0)
            {
                ExpandBlossom(id, true);
            }
        }
    }
}

std::span<const int32_t>
WeightedMatching::GetMates() const
{
    return m_mate;
}

std::span<const int64_t>
WeightedMatching::GetDuals() const
{
    return std::span(m_dual).first(static_cast<std::size_t>(m_nodes));
}

bool
WeightedMatching::RunStage()
{
    std::ranges::fill(m_label, Label::FREE);
    std::ranges::fill(m_best, Best{});
    m_queue.clear();
    for (int32_t node = 0; node < m_nodes; ++node)
    {
        if (m_mate[node] == NONE && m_label[m_top[node]] == Label::FREE)
        {
            AssignLabel(node, Label::OUTER, NONE);
        }
    }
    Outcome outcome = Outcome::GOES_ON;
    while (outcome == Outcome::GOES_ON)
    {
        outcome = ScanOuter() ? Outcome::ENLARGED : ChangeDuals();
    }
    return outcome == Outcome::ENLARGED;
}

bool
WeightedMatching::ScanOuter()
{
    while (!m_queue.empty())
    {
        const int32_t node = m_queue.back();
        m_queue.pop_back();
        for (uint32_t i = m_begin[node]; i < m_begin[node + 1]; ++i)
        {
            if (ScanEdge(node, m_neighbours[i]))
            {
                return true;
            }
        }
    }
    return false;
}

bool
WeightedMatching::ScanEdge(int32_t node, Neighbour neighbour)
{
    const int32_t other = neighbour.node;
    if (m_top[node] == m_top[other])
    {
        return false;
    }
    const int64_t slack = GetSlack(node, other, neighbour.weight);
    const Label label = m_label[m_top[other]];
    if (slack == 0 && label == Label::FREE)
    {
        AssignLabel(other, Label::INNER, node);
        return false;
    }
    if (slack == 0 && label == Label::OUTER)
    {
        return JoinOuter(node, other);
    }
    const auto improve = [&](int32_t at, int32_t outer) {
        Best& best = m_best[at];
        if (best.outer == NONE || slack < GetSlack(at, best.outer, best.weight))
        {
            best = {outer, neighbour.weight};
        }
    };
    improve(other, node);
    if (label == Label::OUTER)
    {
        improve(node, other);
    }
    return false;
}

WeightedMatching::Outcome
WeightedMatching::ChangeDuals()
{
    // Duals of nodes must stay at least 0. Single nodes have the least duals, so this limits all.
    int64_t change = *std::min_element(m_dual.begin(), m_dual.begin() + m_nodes);
    int32_t found = NONE; // a node whose best edge gets tight, or an inner blossom that dissolves
    for (int32_t node = 0; node < m_nodes; ++node)
    {
        const Label label = m_label[m_top[node]];
        if (label == Label::INNER)
        {
            continue;
        }
        if (label == Label::OUTER && m_best[node].outer != NONE &&
            m_top[m_best[node].outer] == m_top[node])
        {
            RefreshBest(node);
        }
        const Best& best = m_best[node];
        if (best.outer == NONE)
        {
            continue;
        }
        const int64_t slack = GetSlack(node, best.outer, best.weight);
        const int64_t limit = label == Label::OUTER ? slack / 2 : slack;
        if (limit < change)
        {
            change = limit;
            found = node;
        }
    }
    for (int32_t id = m_nodes; id < 2 * m_nodes; ++id)
    {
        if (m_base[id] != NONE && m_parent[id] == NONE && m_label[id] == Label::INNER &&
            m_dual[id] < change)
        {
            change = m_dual[id];
            found = id;
        }
    }
    const auto direction = [&](int32_t top) {
        return m_label[top] == Label::OUTER ? -change : m_label[top] == Label::INNER ? change : 0;
    };
    for (int32_t node = 0; node < m_nodes; ++node)
    {
        m_dual[node] += direction(m_top[node]);
    }
    for (int32_t id = m_nodes; id < 2 * m_nodes; ++id)
    {
        if (m_base[id] != NONE && m_parent[id] == NONE)
        {
            m_dual[id] -= direction(id);
        }
    }
    if (found == NONE)
    {
        return Outcome::HEAVIEST;
    }
    if (IsBlossom(found))
    {
        ExpandBlossom(found, false);
    }
    else if (m_label[m_top[found]] == Label::OUTER)
    {
        return JoinOuter(found, m_best[found].outer) ? Outcome::ENLARGED : Outcome::GOES_ON;
    }
    else
    {
        AssignLabel(found, Label::INNER, m_best[found].outer);
    }
    return Outcome::GOES_ON;
}

int64_t
WeightedMatching::GetSlack(int32_t a, int32_t b, int64_t weight) const
{
    return m_dual[a] + m_dual[b] - 2 * weight;
}

void
WeightedMatching::RefreshBest(int32_t node)
{
    int64_t least = NEVER;
    m_best[node] = {};
    for (uint32_t i = m_begin[node]; i < m_begin[node + 1]; ++i)
    {
        const auto [other, weight] = m_neighbours[i];
        const int64_t slack = GetSlack(node, other, weight);
        if (m_label[m_top[other]] == Label::OUTER && m_top[other] != m_top[node] && slack < least)
        {
            least = slack;
            m_best[node] = {other, weight};
        }
    }
}

void
WeightedMatching::AssignLabel(int32_t node, Label label, int32_t from)
{
    const int32_t top = m_top[node];
    m_label[top] = label;
    m_reached[top] = {from, node};
    if (label == Label::INNER)
    {
        const int32_t base = m_base[top];
        AssignLabel(m_mate[base], Label::OUTER, base);
        return;
    }
    CollectLeaves(top);
    for (const int32_t leaf : m_leaves)
    {
        // m_best stays valid: for free and outer nodes alike, it is the best edge to an outer node.
        m_queue.push_back(leaf);
    }
}

bool
WeightedMatching::IsBlossom(int32_t id) const
{
    return id >= m_nodes;
}

} // namespace cosim
