/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "transport/tcp/reassembly.h"

#include <algorithm>
#include <cstddef>

namespace cosim
{

using namespace ns3;

namespace
{

/// A TCP header has no room for more SACK blocks.
constexpr std::size_t MAX_SACK_BLOCKS = 4;

} // namespace

bool
Reassembly::Add(const Block& segment, SequenceNumber32& next)
{
    Block fresh(std::max(segment.first, next), segment.second);
    if (!m_stored.empty())
    {
        fresh.second = std::min(fresh.second, m_stored.front().first + m_window);
    }
    Trim(fresh);
    if (fresh.first >= fresh.second)
    {
        return false;
    }
    m_stored.insert(std::upper_bound(m_stored.begin(), m_stored.end(), fresh), fresh);
    if (fresh.first > next)
    {
        Report(fresh);
    }
    else
    {
        Read(next);
    }
    return true;
}

/// Remove what is stored from both ends of a segment. What is stored in its middle is forgotten.
void
Reassembly::Trim(Block& fresh)
{
    auto i = std::partition_point(m_stored.begin(), m_stored.end(), [&](const Block& stored) {
        return stored.second <= fresh.first;
    });
    while (i != m_stored.end() && i->first <= fresh.second)
    {
        if (i->first > fresh.first && i->second < fresh.second)
        {
            i = m_stored.erase(i);
            continue;
        }
        if (i->first <= fresh.first)
        {
            fresh.first = i->second;
        }
        if (i->second >= fresh.second)
        {
            fresh.second = i->first;
        }
        ++i;
    }
}

/// Make a segment the first SACK block, joined with its neighbors.
void
Reassembly::Report(Block first)
{
    for (auto i = m_sackBlocks.begin(); i != m_sackBlocks.end();)
    {
        if (i->second != first.first && i->first != first.second)
        {
            ++i;
            continue;
        }
        first = {std::min(i->first, first.first), std::max(i->second, first.second)};
        m_sackBlocks.erase(i);
        i = m_sackBlocks.begin();
    }
    m_sackBlocks.insert(m_sackBlocks.begin(), first);
    if (m_sackBlocks.size() > MAX_SACK_BLOCKS)
    {
        m_sackBlocks.pop_back();
    }
}

/// Read what is in order.
void
Reassembly::Read(SequenceNumber32& next)
{
    auto i = m_stored.begin();
    for (; i != m_stored.end() && i->first == next; ++i)
    {
        next = i->second;
    }
    m_stored.erase(m_stored.begin(), i);
    std::erase_if(m_sackBlocks, [&](const Block& block) { return block.second <= next; });
}

} // namespace cosim
