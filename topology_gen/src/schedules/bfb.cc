/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/bfb.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace cosim
{

namespace
{

constexpr uint64_t GREATEST_SENDS = uint64_t{1} << 29; // a send takes 16 bytes

} // namespace

Bfb::Bfb(LinkTable links, uint32_t roots)
    : m_links(std::move(links))
{
    BackwardSearch search(m_links);
    m_words = search.GetWords();
    InternPattern({});
    m_begin.push_back(0);
    std::vector<uint64_t> key;
    for (uint32_t root = 0; root < std::min(roots, m_links.GetNodes()); ++root)
    {
        search.Run(root);
        if (search.GetReached() + 1 < m_links.GetNodes())
        {
            throw std::invalid_argument("only " + std::to_string(search.GetReached()) + " of " +
                                        std::to_string(m_links.GetNodes() - 1) +
                                        " other nodes reach node " + std::to_string(root));
        }
        m_steps = std::max(m_steps, search.GetDepth());
        for (uint32_t step = 1; step <= search.GetDepth(); ++step)
        {
            key.clear();
            for (const auto& group : search.FindGroups(step))
            {
                key.insert(key.end(), group.mask, group.mask + m_words);
                key.push_back(group.nodes);
            }
            m_patterns.push_back(InternPattern(key));
            m_distanceSum += uint64_t{step} * search.GetLayer(step).size();
        }
        m_begin.push_back(m_patterns.size());
    }
}

uint32_t
Bfb::GetSteps() const
{
    return m_steps;
}

const LinkTable&
Bfb::GetLinkTable() const
{
    return m_links;
}

uint64_t
Bfb::GetDistanceSum() const
{
    return m_distanceSum;
}

uint32_t
Bfb::GetPattern(uint32_t root, uint32_t step) const
{
    const std::size_t place = m_begin[root] + step - 1;
    return place < m_begin[root + 1] ? m_patterns[place] : 0;
}

const std::vector<Ratio>&
Bfb::GetLeastLoads() const
{
    return m_leastLoads;
}

Sends
Bfb::MakeSends(uint32_t chunks) const
{
    if (m_begin.size() <= m_links.GetNodes())
    {
        throw std::invalid_argument("expected all nodes as roots");
    }
    std::vector<Spread> spreads;
    for (uint32_t pattern = 0; pattern < m_keys.size(); ++pattern)
    {
        spreads.push_back(SpreadPattern(pattern, chunks));
    }

    Sends sends;
    sends.stepBegin.assign(std::size_t{m_steps} + 1, 0);
    for (uint32_t root = 0; root < m_links.GetNodes(); ++root)
    {
        for (uint32_t step = 1; step <= m_steps; ++step)
        {
            sends.stepBegin[step] += spreads[GetPattern(root, step)].sends;
        }
    }
    for (uint32_t step = 1; step <= m_steps; ++step)
    {
        sends.stepBegin[step] += sends.stepBegin[step - 1];
    }
    const std::size_t total = sends.stepBegin.back();
    if (total > GREATEST_SENDS)
    {
        throw std::invalid_argument("the schedule has " + std::to_string(total) +
                                    " sends, expected at most " + std::to_string(GREATEST_SENDS));
    }
    sends.link.reset(new uint32_t[total]);
    sends.shard.reset(new uint32_t[total]);
    sends.first.reset(new uint32_t[total]);
    sends.count.reset(new uint32_t[total]);

    // Roots are in ascending order, so the sends of every step are written front to back.
    std::vector<uint64_t> next(sends.stepBegin);
    std::vector<std::pair<uint32_t, uint64_t>> cursor; // for each group: its arc, and its rest
    BackwardSearch search(m_links);
    for (uint32_t root = 0; root < m_links.GetNodes(); ++root)
    {
        search.Run(root);
        const auto inLinks = m_links.GetInLinks(root);
        for (uint32_t step = 1; step <= search.GetDepth(); ++step)
        {
            search.FindGroups(step);
            const auto layer = search.GetLayer(step);
            const auto groupOfNode = search.GetGroupOfNode();
            const Spread& spread = spreads[GetPattern(root, step)];
            cursor.clear();
            for (std::size_t group = 0; group + 1 < spread.begin.size(); ++group)
            {
                const uint32_t arc = spread.begin[group];
                cursor.emplace_back(arc, spread.arcs[arc].units);
            }
            uint64_t place = next[step - 1];
            for (std::size_t i = 0; i < layer.size(); ++i)
            {
                auto& [arc, left] = cursor[groupOfNode[i]];
                for (uint32_t done = 0; done < chunks;)
                {
                    if (left == 0)
                    {
                        ++arc;
                        left = spread.arcs[arc].units;
                    }
                    const auto take =
                        static_cast<uint32_t>(std::min<uint64_t>(left, chunks - done));
                    sends.link[place] = inLinks[spread.arcs[arc].link].link;
                    sends.shard[place] = layer[i];
                    sends.first[place] = done;
                    sends.count[place] = take;
                    ++place;
                    done += take;
                    left -= take;
                }
            }
            next[step - 1] = place;
        }
    }
    return sends;
}

uint32_t
Bfb::InternPattern(const std::vector<uint64_t>& key)
{
    const auto [place, isNew] = m_index.try_emplace(key, static_cast<uint32_t>(m_keys.size()));
    if (isNew)
    {
        m_keys.push_back(&place->first);
        m_leastLoads.push_back(BalancedFlow(key, m_words).FindLeastLoad());
    }
    return place->second;
}

Bfb::Spread
Bfb::SpreadPattern(uint32_t pattern, uint32_t chunks) const
{
    const auto [numerator, denominator] = m_leastLoads[pattern];
    const uint64_t capacity = (numerator * chunks + denominator - 1) / denominator;
    BalancedFlow flow(*m_keys[pattern], m_words);
    Spread spread{{0}, {}, 0};
    uint64_t begin = 0; // chunks of the group on earlier arcs
    for (const auto& arc : flow.Distribute(chunks, capacity))
    {
        if (arc.units == 0)
        {
            continue;
        }
        if (spread.arcs.empty() || spread.arcs.back().group != arc.group)
        {
            spread.begin.back() = static_cast<uint32_t>(spread.arcs.size());
            spread.begin.push_back(0);
            begin = 0;
        }
        // The arc makes one send for every shard of which it carries a part.
        const uint64_t end = begin + arc.units;
        spread.sends += (end + chunks - 1) / chunks - begin / chunks;
        begin = end;
        spread.arcs.push_back(arc);
    }
    spread.begin.back() = static_cast<uint32_t>(spread.arcs.size());
    return spread;
}

} // namespace cosim
