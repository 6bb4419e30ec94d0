/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/balanced-flow.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace cosim
{

namespace
{

constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();

} // namespace

BalancedFlow::BalancedFlow(std::span<const uint64_t> pattern, uint32_t words)
{
    const std::size_t groups = pattern.size() / (words + 1);
    m_begin.push_back(0);
    for (std::size_t group = 0; group < groups; ++group)
    {
        const auto record = pattern.subspan(group * (words + 1), words + 1);
        for (uint32_t word = 0; word < words; ++word)
        {
            for (uint64_t rest = record[word]; rest != 0; rest &= rest - 1)
            {
                const auto link = 64 * word + static_cast<uint32_t>(std::countr_zero(rest));
                m_arcs.push_back({static_cast<uint32_t>(group), link, 0});
                m_intoBegin.resize(std::max<std::size_t>(m_intoBegin.size(), link + 2));
                ++m_intoBegin[link + 1];
            }
        }
        m_shards.push_back(record[words]);
        m_begin.push_back(static_cast<uint32_t>(m_arcs.size()));
    }
    std::partial_sum(m_intoBegin.begin(), m_intoBegin.end(), m_intoBegin.begin());
    m_into.resize(m_arcs.size());
    std::vector<uint32_t> next(m_intoBegin);
    for (uint32_t arc = 0; arc < m_arcs.size(); ++arc)
    {
        m_into[next[m_arcs[arc].link]++] = arc;
    }
    m_groupLevel.resize(m_shards.size());
    m_room.resize(m_intoBegin.empty() ? 0 : m_intoBegin.size() - 1);
    m_linkLevel.resize(m_room.size());
}

Ratio
BalancedFlow::FindLeastLoad()
{
    // All shards over all usable links is a lower bound of the load, and mostly the answer.
    uint64_t shards = std::accumulate(m_shards.begin(), m_shards.end(), uint64_t{0});
    uint64_t links = 0;
    for (std::size_t link = 0; link < m_room.size(); ++link)
    {
        links += m_intoBegin[link + 1] > m_intoBegin[link] ? 1 : 0;
    }
    while (!Push(links, shards))
    {
        // The links that the groups with units left can reach form a set K with a greater quotient.
        links = 0;
        for (const uint32_t level : m_linkLevel)
        {
            links += level != UNREACHED ? 1 : 0;
        }
        shards = 0;
        for (std::size_t group = 0; group < m_shards.size(); ++group)
        {
            bool inside = true;
            for (uint32_t arc = m_begin[group]; arc < m_begin[group + 1]; ++arc)
            {
                inside = inside && m_linkLevel[m_arcs[arc].link] != UNREACHED;
            }
            shards += inside ? m_shards[group] : 0;
        }
    }
    const uint64_t divisor = std::max<uint64_t>(1, std::gcd(shards, links));
    return {shards / divisor, std::max<uint64_t>(1, links / divisor)};
}

std::span<const BalancedFlow::Arc>
BalancedFlow::Distribute(uint64_t chunks, uint64_t capacity)
{
    Push(chunks, capacity);
    return m_arcs;
}

bool
BalancedFlow::Push(uint64_t unitsPerShard, uint64_t capacity)
{
    m_left.resize(m_shards.size());
    uint64_t left = 0;
    for (std::size_t group = 0; group < m_shards.size(); ++group)
    {
        m_left[group] = m_shards[group] * unitsPerShard;
        left += m_left[group];
    }
    std::ranges::fill(m_room, capacity);
    for (Arc& arc : m_arcs)
    {
        arc.units = 0;
    }
    while (left > 0 && FindLevels())
    {
        m_nextArc.assign(m_begin.begin(), m_begin.end() - 1);
        m_nextInto.assign(m_intoBegin.begin(), m_intoBegin.end() - 1);
        for (uint32_t group = 0; group < m_shards.size(); ++group)
        {
            const uint64_t sent = m_left[group] > 0 ? Advance(group, m_left[group]) : 0;
            m_left[group] -= sent;
            left -= sent;
        }
    }
    return left == 0;
}

bool
BalancedFlow::FindLevels()
{
    bool found = false;
    std::ranges::fill(m_groupLevel, UNREACHED);
    std::ranges::fill(m_linkLevel, UNREACHED);
    m_queue.clear();
    for (uint32_t group = 0; group < m_shards.size(); ++group)
    {
        if (m_left[group] > 0)
        {
            m_groupLevel[group] = 0;
            m_queue.push_back(group);
        }
    }
    for (std::size_t head = 0; head < m_queue.size(); ++head)
    {
        const uint32_t group = m_queue[head];
        for (uint32_t arc = m_begin[group]; arc < m_begin[group + 1]; ++arc)
        {
            const uint32_t link = m_arcs[arc].link;
            if (m_linkLevel[link] != UNREACHED)
            {
                continue;
            }
            m_linkLevel[link] = m_groupLevel[group] + 1;
            found = found || m_room[link] > 0;
            for (uint32_t i = m_intoBegin[link]; i < m_intoBegin[link + 1]; ++i)
            {
                const Arc& back = m_arcs[m_into[i]];
                if (back.units > 0 && m_groupLevel[back.group] == UNREACHED)
                {
                    m_groupLevel[back.group] = m_linkLevel[link] + 1;
                    m_queue.push_back(back.group);
                }
            }
        }
    }
    return found;
}

uint64_t
BalancedFlow::Advance(uint32_t group, uint64_t units)
{
    uint64_t sent = 0;
    for (uint32_t& next = m_nextArc[group]; next < m_begin[group + 1]; ++next)
    {
        Arc& arc = m_arcs[next];
        if (m_linkLevel[arc.link] != m_groupLevel[group] + 1)
        {
            continue;
        }
        const uint64_t taken = std::min(units - sent, m_room[arc.link]);
        m_room[arc.link] -= taken;
        arc.units += taken;
        sent += taken;

        // The link is full, but other groups may move their units on it to other links of theirs.
        for (uint32_t& into = m_nextInto[arc.link];
             sent < units && into < m_intoBegin[arc.link + 1];
             ++into)
        {
            Arc& back = m_arcs[m_into[into]];
            if (back.units == 0 || m_groupLevel[back.group] != m_linkLevel[arc.link] + 1)
            {
                continue;
            }
            const uint64_t moved = Advance(back.group, std::min(units - sent, back.units));
            back.units -= moved;
            arc.units += moved;
            sent += moved;
            if (sent == units)
            {
                return sent; // the next call may take more units back from this group
            }
        }
        if (sent == units)
        {
            return sent;
        }
    }
    return sent;
}

} // namespace cosim
