/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/hashed-paths.h"

namespace cosim
{

namespace
{

/**
 * One step of SplitMix64: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014. `flow_hash` in shortest_paths.py is the same hash.
 */
uint64_t
Mix(uint64_t word, uint64_t salt)
{
    word += (salt + 1) * 0x9e3779b97f4a7c15U;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
    word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
    return word ^ (word >> 31);
}

} // namespace

HashedPaths::HashedPaths(const TargetSearch& search, uint64_t salt)
    : m_search(search),
      m_salt(salt)
{
}

void
HashedPaths::Follow(uint32_t from, uint32_t to, uint64_t route, std::vector<uint32_t>& links)
{
    const uint64_t flow = Mix((uint64_t{from} << 32) + to, route);
    uint64_t hop = m_salt;
    for (uint32_t at = from; at != to; ++hop)
    {
        m_next.clear();
        for (const uint32_t link : m_search.GetOut(at))
        {
            if (m_search.IsNext(link, m_search.GetCost(at)))
            {
                m_next.push_back(link);
            }
        }
        const uint32_t link = m_next[(Mix(flow, hop) >> 1) % m_next.size()];
        links.push_back(link);
        at = m_search.GetLinks().target[link];
    }
}

} // namespace cosim
