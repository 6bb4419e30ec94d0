/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/chunk-shares.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cosim
{

namespace
{

/// @return whether starts are ascending, from 0 to the end
bool
IsPartition(std::span<const uint32_t> begin, std::size_t end)
{
    return !begin.empty() && begin.front() == 0 && begin.back() == end &&
           std::ranges::is_sorted(begin);
}

} // namespace

ChunkShares::ChunkShares(const PairPaths& paths, uint32_t kinds, std::span<const uint32_t> given)
    : m_paths(paths),
      m_given(given.begin(), given.end()),
      m_loads(kinds)
{
    if (!IsPartition(paths.pairBegin, given.size()) ||
        !IsPartition(paths.useBegin, paths.kind.size()) ||
        paths.useBegin.size() != given.size() + 1 || paths.times.size() != paths.kind.size() ||
        std::ranges::any_of(paths.kind, [kinds](uint32_t kind) { return kind >= kinds; }))
    {
        throw std::invalid_argument("expected paths of classes that exist");
    }
    for (uint32_t path = 0; path < m_given.size(); ++path)
    {
        Add(path, m_given[path]);
    }
}

void
ChunkShares::GiveRest(std::span<const uint8_t> isRounded, uint32_t chunks)
{
    std::vector<uint32_t> left;
    for (std::size_t pair = 0; pair + 1 < m_paths.pairBegin.size(); ++pair)
    {
        const uint32_t begin = m_paths.pairBegin[pair];
        const uint32_t end = m_paths.pairBegin[pair + 1];
        uint64_t given = 0;
        left.clear();
        for (uint32_t path = begin; path < end; ++path)
        {
            given += m_given[path];
            if (isRounded[path] != 0)
            {
                left.push_back(path);
            }
        }
        for (; given < chunks && !left.empty(); ++given)
        {
            const auto cost = [this](uint32_t path) {
                return std::pair(GetFullest(path), GetHops(path));
            };
            const auto best = std::ranges::min_element(left, {}, cost);
            ++m_given[*best];
            Add(*best, 1);
            left.erase(best);
        }
    }
}

void
ChunkShares::Level(uint32_t rounds)
{
    bool isMoved = true;
    for (uint32_t round = 0; round < rounds && isMoved; ++round)
    {
        isMoved = false;
        for (std::size_t pair = 0; pair + 1 < m_paths.pairBegin.size(); ++pair)
        {
            const uint32_t begin = m_paths.pairBegin[pair];
            const uint32_t end = m_paths.pairBegin[pair + 1];
            for (uint32_t source = begin; source < end; ++source)
            {
                for (uint32_t target = begin; target < end; ++target)
                {
                    while (m_given[source] > 0 && IsEvener(source, target))
                    {
                        --m_given[source];
                        ++m_given[target];
                        Add(source, -1);
                        Add(target, 1);
                        isMoved = true;
                    }
                }
            }
        }
    }
}

const std::vector<uint32_t>&
ChunkShares::GetGiven() const
{
    return m_given;
}

uint64_t
ChunkShares::GetGreatestLoad() const
{
    return m_loads.empty() ? 0 : static_cast<uint64_t>(std::ranges::max(m_loads));
}

void
ChunkShares::Add(uint32_t path, int64_t chunks)
{
    for (uint32_t use = m_paths.useBegin[path]; use < m_paths.useBegin[path + 1]; ++use)
    {
        m_loads[m_paths.kind[use]] += m_paths.times[use] * chunks;
    }
}

int64_t
ChunkShares::GetFullest(uint32_t path) const
{
    int64_t fullest = 0;
    for (uint32_t use = m_paths.useBegin[path]; use < m_paths.useBegin[path + 1]; ++use)
    {
        fullest = std::max(fullest, m_loads[m_paths.kind[use]]);
    }
    return fullest;
}

uint32_t
ChunkShares::GetHops(uint32_t path) const
{
    const auto uses = m_paths.times.subspan(m_paths.useBegin[path],
                                            m_paths.useBegin[path + 1] - m_paths.useBegin[path]);
    return std::accumulate(uses.begin(), uses.end(), 0U);
}

bool
ChunkShares::IsEvener(uint32_t source, uint32_t target) const
{
    int64_t before = 0;
    int64_t after = 0;
    uint32_t from = m_paths.useBegin[source];
    uint32_t to = m_paths.useBegin[target];
    const uint32_t fromEnd = m_paths.useBegin[source + 1];
    const uint32_t toEnd = m_paths.useBegin[target + 1];
    while (from < fromEnd || to < toEnd)
    {
        // The classes of a path are in ascending order, so both lists are walked like a merge.
        const bool isFrom =
            from < fromEnd && (to == toEnd || m_paths.kind[from] <= m_paths.kind[to]);
        const bool isTo = to < toEnd && (from == fromEnd || m_paths.kind[to] <= m_paths.kind[from]);
        const uint32_t kind = isFrom ? m_paths.kind[from] : m_paths.kind[to];
        const int64_t fewer = isFrom ? m_paths.times[from++] : 0;
        const int64_t more = isTo ? m_paths.times[to++] : 0;
        if (fewer != more)
        {
            before = std::max(before, m_loads[kind]);
            after = std::max(after, m_loads[kind] + more - fewer);
        }
    }
    return after < before;
}

} // namespace cosim
