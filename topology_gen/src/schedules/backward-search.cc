/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/backward-search.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace cosim
{

namespace
{

constexpr uint32_t UNSEEN = std::numeric_limits<uint32_t>::max();
constexpr uint32_t FEW_IN_LINKS = 8; // up to this, masks index a table directly, without hashing

} // namespace

BackwardSearch::BackwardSearch(const LinkTable& links)
    : m_links(links),
      m_words(std::max(1U, (links.GetMaxInDegree() + 63) / 64)),
      m_isSmall(links.GetMaxInDegree() <= FEW_IN_LINKS),
      m_distance(links.GetNodes()),
      m_masks(std::size_t{links.GetNodes()} * m_words)
{
}

void
BackwardSearch::Run(uint32_t root)
{
    std::ranges::fill(m_distance, UNSEEN);
    m_distance[root] = 0;
    m_order.clear();
    m_begin.clear();

    const auto inLinks = m_links.GetInLinks(root);
    for (std::size_t i = 0; i < inLinks.size(); ++i)
    {
        const uint32_t node = inLinks[i].from;
        if (node == root)
        {
            continue; // a self-loop delivers nothing
        }
        uint64_t* mask = &m_masks[std::size_t{node} * m_words];
        if (m_distance[node] == UNSEEN)
        {
            m_distance[node] = 1;
            m_order.push_back(node);
            std::fill_n(mask, m_words, 0);
        }
        mask[i / 64] |= uint64_t{1} << (i % 64);
    }

    // The queue order completes all masks of a layer before the first node of the layer is taken.
    for (std::size_t head = 0; head < m_order.size(); ++head)
    {
        const uint32_t node = m_order[head];
        const uint32_t next = m_distance[node] + 1;
        if (m_begin.size() + 1 < next)
        {
            m_begin.push_back(static_cast<uint32_t>(head));
        }
        const uint64_t* mask = &m_masks[std::size_t{node} * m_words];
        for (const auto& inLink : m_links.GetInLinks(node))
        {
            const uint32_t seen = m_distance[inLink.from];
            uint64_t* other = &m_masks[std::size_t{inLink.from} * m_words];
            if (seen == UNSEEN)
            {
                m_distance[inLink.from] = next;
                m_order.push_back(inLink.from);
                std::copy_n(mask, m_words, other);
            }
            else if (seen == next)
            {
                for (uint32_t word = 0; word < m_words; ++word)
                {
                    other[word] |= mask[word];
                }
            }
        }
    }
    m_begin.push_back(static_cast<uint32_t>(m_order.size()));
}

uint32_t
BackwardSearch::GetDepth() const
{
    return static_cast<uint32_t>(m_begin.size() - 1);
}

uint32_t
BackwardSearch::GetReached() const
{
    return static_cast<uint32_t>(m_order.size());
}

uint32_t
BackwardSearch::GetWords() const
{
    return m_words;
}

std::span<const uint32_t>
BackwardSearch::GetLayer(uint32_t distance) const
{
    return std::span(m_order).subspan(m_begin[distance - 1],
                                      m_begin[distance] - m_begin[distance - 1]);
}

const uint64_t*
BackwardSearch::GetMask(uint32_t node) const
{
    return &m_masks[std::size_t{node} * m_words];
}

std::span<const BackwardSearch::Group>
BackwardSearch::FindGroups(uint32_t distance)
{
    const auto layer = GetLayer(distance);
    m_unsorted.clear();
    m_groupOf.resize(layer.size());
    if (m_isSmall)
    {
        m_table.assign(std::size_t{1} << FEW_IN_LINKS, 0);
        for (std::size_t i = 0; i < layer.size(); ++i)
        {
            const uint64_t* mask = GetMask(layer[i]);
            uint32_t& group = m_table[*mask];
            if (group == 0)
            {
                m_unsorted.push_back({mask, 0});
                group = static_cast<uint32_t>(m_unsorted.size());
            }
            m_groupOf[i] = group - 1;
            ++m_unsorted[group - 1].nodes;
        }
    }
    else
    {
        m_table.assign(std::bit_ceil(2 * layer.size()), 0);
        for (std::size_t i = 0; i < layer.size(); ++i)
        {
            m_groupOf[i] = InternGroup(GetMask(layer[i]));
            ++m_unsorted[m_groupOf[i]].nodes;
        }
    }

    const auto less = [this](uint32_t a, uint32_t b) {
        const uint64_t* left = m_unsorted[a].mask;
        const uint64_t* right = m_unsorted[b].mask;
        return std::lexicographical_compare(left, left + m_words, right, right + m_words);
    };
    std::vector<uint32_t>& sorted = m_table; // the hash table is no longer needed
    sorted.resize(m_unsorted.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::ranges::sort(sorted, less);
    m_groups.clear();
    m_rank.resize(sorted.size());
    for (std::size_t i = 0; i < sorted.size(); ++i)
    {
        m_groups.push_back(m_unsorted[sorted[i]]);
        m_rank[sorted[i]] = static_cast<uint32_t>(i);
    }
    for (uint32_t& group : m_groupOf)
    {
        group = m_rank[group];
    }
    return m_groups;
}

std::span<const uint32_t>
BackwardSearch::GetGroupOfNode() const
{
    return m_groupOf;
}

uint32_t
BackwardSearch::InternGroup(const uint64_t* mask)
{
    uint64_t hash = 0;
    for (uint32_t word = 0; word < m_words; ++word)
    {
        hash = (hash ^ mask[word]) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 32;
    }
    const std::size_t last = m_table.size() - 1;
    for (std::size_t slot = hash & last;; slot = (slot + 1) & last)
    {
        if (m_table[slot] == 0)
        {
            m_unsorted.push_back({mask, 0});
            m_table[slot] = static_cast<uint32_t>(m_unsorted.size());
            return m_table[slot] - 1;
        }
        if (std::equal(mask, mask + m_words, m_unsorted[m_table[slot] - 1].mask))
        {
            return m_table[slot] - 1;
        }
    }
}

} // namespace cosim
