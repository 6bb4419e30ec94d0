/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/replay.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

/// The set of chunks that each node holds.
class Holdings
{
  public:
    Holdings(uint32_t nodes, std::size_t shards, uint32_t chunks)
        : m_shards(shards),
          m_chunks(chunks),
          m_bits((nodes * shards * chunks + 63) / 64)
    {
    }

    bool Has(uint32_t node, uint32_t shard, uint32_t chunk) const
    {
        const std::size_t bit = Place(node, shard, chunk);
        return (m_bits[bit / 64] >> (bit % 64) & 1) != 0;
    }

    void Add(uint32_t node, uint32_t shard, uint32_t chunk)
    {
        const std::size_t bit = Place(node, shard, chunk);
        m_bits[bit / 64] |= uint64_t{1} << (bit % 64);
    }

  private:
    std::size_t Place(uint32_t node, uint32_t shard, uint32_t chunk) const
    {
        return (node * m_shards + shard) * m_chunks + chunk;
    }

    std::size_t m_shards;
    uint32_t m_chunks;
    std::vector<uint64_t> m_bits; //!< a bit for each node, shard and chunk
};

std::string
Name(uint32_t shard, uint32_t chunk)
{
    return "chunk " + std::to_string(chunk) + " of shard " + std::to_string(shard);
}

void
CheckShape(std::size_t shards, std::size_t links, uint32_t chunks, const SendView& sends)
{
    const std::size_t total = sends.link.size();
    if (sends.shard.size() != total || sends.first.size() != total || sends.count.size() != total ||
        sends.stepBegin.empty() || sends.stepBegin.front() != 0 ||
        sends.stepBegin.back() != total || !std::ranges::is_sorted(sends.stepBegin))
    {
        throw std::invalid_argument("the arrays of the schedule differ in length or order");
    }
    for (std::size_t i = 0; i < total; ++i)
    {
        if (sends.link[i] >= links)
        {
            throw std::invalid_argument("send " + std::to_string(i) + " is over link " +
                                        std::to_string(sends.link[i]) + ", but there are " +
                                        std::to_string(links));
        }
        if (sends.shard[i] >= shards || sends.count[i] == 0 ||
            uint64_t{sends.first[i]} + sends.count[i] > chunks)
        {
            throw std::invalid_argument(
                "send " + std::to_string(i) + " has chunks " + std::to_string(sends.first[i]) +
                " and the next " + std::to_string(sends.count[i]) + " of shard " +
                std::to_string(sends.shard[i]) + ", but there are " + std::to_string(shards) +
                " shards of " + std::to_string(chunks) + " chunks");
        }
    }
}

} // namespace

std::vector<uint64_t>
Replay(const LinkEnds& graph,
       uint32_t chunks,
       const SendView& sends,
       std::span<const uint32_t> owners,
       bool isReduction)
{
    const auto shards = static_cast<uint32_t>(owners.size());
    CheckShape(shards, graph.source.size(), chunks, sends);
    const auto& from = isReduction ? graph.target : graph.source;
    const auto& to = isReduction ? graph.source : graph.target;
    const std::string verb = isReduction ? " passes on " : " gets ";
    Holdings holdings(graph.nodes, shards, chunks);
    for (uint32_t shard = 0; shard < shards; ++shard)
    {
        for (uint32_t chunk = 0; chunk < chunks; ++chunk)
        {
            holdings.Add(owners[shard], shard, chunk);
        }
    }

    const std::size_t steps = sends.stepBegin.size() - 1;
    std::vector<uint64_t> greatest(steps);
    std::vector<uint64_t> load(graph.source.size());
    for (std::size_t played = 0; played < steps; ++played)
    {
        const std::size_t step = isReduction ? steps - 1 - played : played;
        const std::string place = " in step " + std::to_string(step + 1);
        std::ranges::fill(load, 0);
        for (uint64_t i = sends.stepBegin[step]; i < sends.stepBegin[step + 1]; ++i)
        {
            const uint32_t node = from[sends.link[i]];
            for (uint32_t chunk = sends.first[i]; chunk < sends.first[i] + sends.count[i]; ++chunk)
            {
                if (!holdings.Has(node, sends.shard[i], chunk))
                {
                    const std::string what = Name(sends.shard[i], chunk) + place;
                    throw std::invalid_argument(
                        isReduction ? "rank " + std::to_string(node) + " takes in " + what +
                                          ", but does not pass it on later"
                                    : "rank " + std::to_string(node) + " sends " + what +
                                          ", but does not have it before");
                }
            }
            load[sends.link[i]] += sends.count[i];
        }
        for (uint64_t i = sends.stepBegin[step]; i < sends.stepBegin[step + 1]; ++i)
        {
            const uint32_t node = to[sends.link[i]];
            for (uint32_t chunk = sends.first[i]; chunk < sends.first[i] + sends.count[i]; ++chunk)
            {
                if (holdings.Has(node, sends.shard[i], chunk))
                {
                    throw std::invalid_argument(
                        "rank " + std::to_string(node) + verb + Name(sends.shard[i], chunk) +
                        place +
                        (node == owners[sends.shard[i]] ? ", its own" : ", but also elsewhere"));
                }
                holdings.Add(node, sends.shard[i], chunk);
            }
        }
        greatest[step] = load.empty() ? 0 : *std::ranges::max_element(load);
    }

    for (uint32_t node = 0; node < graph.nodes; ++node)
    {
        for (uint32_t shard = 0; shard < shards; ++shard)
        {
            for (uint32_t chunk = 0; chunk < chunks; ++chunk)
            {
                if (!holdings.Has(node, shard, chunk))
                {
                    throw std::invalid_argument("rank " + std::to_string(node) + " never" + verb +
                                                Name(shard, chunk));
                }
            }
        }
    }
    return greatest;
}

} // namespace cosim
