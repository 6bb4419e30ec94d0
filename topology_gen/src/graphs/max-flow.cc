/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/max-flow.h"

#include <algorithm>

namespace cosim
{

namespace
{
constexpr uint32_t UNREACHED = std::numeric_limits<uint32_t>::max();
} // namespace

MaxFlow::MaxFlow(uint32_t nodes)
    : m_halvesOf(nodes),
      m_level(nodes, UNREACHED),
      m_next(nodes)
{
}

void
MaxFlow::AddArc(uint32_t source, uint32_t target, int64_t capacity)
{
    const auto first = static_cast<uint32_t>(m_halves.size());
    m_halves.push_back({target, capacity});
    m_halves.push_back({source, 0});
    m_halvesOf[source].push_back(first);
    m_halvesOf[target].push_back(first + 1);
    m_capacity.push_back(capacity);
}

uint32_t
MaxFlow::GetArcs() const
{
    return static_cast<uint32_t>(m_capacity.size());
}

void
MaxFlow::Shrink(uint32_t arcs)
{
    while (m_capacity.size() > arcs)
    {
        // The halves of the last arc are the last of their nodes, too.
        const uint32_t target = m_halves[m_halves.size() - 2].target;
        const uint32_t source = m_halves.back().target;
        m_halvesOf[target].pop_back();
        m_halvesOf[source].pop_back();
        m_halves.resize(m_halves.size() - 2);
        m_capacity.pop_back();
    }
}

void
MaxFlow::SetCapacity(uint32_t arc, int64_t capacity)
{
    m_capacity[arc] = capacity;
}

int64_t
MaxFlow::GetCapacity(uint32_t arc) const
{
    return m_capacity[arc];
}

int64_t
MaxFlow::GetFlow(uint32_t arc) const
{
    return m_halves[2 * arc + 1].room;
}

bool
MaxFlow::IsOnSourceSide(uint32_t node) const
{
    return m_level[node] != UNREACHED;
}

int64_t
MaxFlow::Run(uint32_t source, uint32_t target, int64_t limit)
{
    for (uint32_t arc = 0; arc < m_capacity.size(); ++arc)
    {
        m_halves[2 * arc].room = m_capacity[arc];
        m_halves[2 * arc + 1].room = 0;
    }
    int64_t value = 0;
    while (value < limit && FindLevels(source, target))
    {
        std::ranges::fill(m_next, 0);
        value += Advance(source, target, limit - value);
    }
    return value;
}

bool
MaxFlow::FindLevels(uint32_t source, uint32_t target)
{
    std::ranges::fill(m_level, UNREACHED);
    m_queue.assign(1, source);
    m_level[source] = 0;
    for (std::size_t head = 0; head < m_queue.size(); ++head)
    {
        const uint32_t node = m_queue[head];
        for (const uint32_t half : m_halvesOf[node])
        {
            const uint32_t other = m_halves[half].target;
            if (m_halves[half].room > 0 && m_level[other] == UNREACHED)
            {
                m_level[other] = m_level[node] + 1;
                if (other == target)
                {
                    return true;
                }
                m_queue.push_back(other);
            }
        }
    }
    return false;
}

int64_t
MaxFlow::Advance(uint32_t node, uint32_t target, int64_t amount)
{
    if (node == target)
    {
        return amount;
    }
    int64_t sent = 0;
    for (; m_next[node] < m_halvesOf[node].size(); ++m_next[node])
    {
        const uint32_t half = m_halvesOf[node][m_next[node]];
        const uint32_t other = m_halves[half].target;
        if (m_halves[half].room == 0 || m_level[other] != m_level[node] + 1)
        {
            continue;
        }
        const int64_t moved = Advance(other, target, std::min(amount - sent, m_halves[half].room));
        m_halves[half].room -= moved;
        m_halves[half ^ 1].room += moved;
        sent += moved;
        if (sent == amount)
        {
            return sent; // the half may have room left, so it is tried again
        }
    }
    return sent;
}

} // namespace cosim
