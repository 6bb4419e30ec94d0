/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/two-edge-replacement.h"

#include "stream/path-table.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace cosim
{

namespace
{

constexpr uint32_t NONE = UINT32_MAX;

/// Computes the share of each circuit in the demand of its pair.
class Shares
{
  public:
    Shares(const std::vector<Demand>& demand, const std::vector<Circuit>& circuits)
    {
        for (const Demand& one : demand)
        {
            m_bytes[PairOf(one.pair.source, one.pair.target)] = one.bytes;
        }
        for (const Circuit& circuit : circuits)
        {
            ++m_parallel[PairOf(circuit.source, circuit.target)];
        }
    }

    /// @return the sort key of a circuit: its share, then its pair
    std::tuple<double, uint32_t, uint32_t> Get(const Circuit& circuit) const
    {
        const uint64_t pair = PairOf(circuit.source, circuit.target);
        const auto bytes = m_bytes.find(pair);
        const auto parallel = m_parallel.find(pair);
        const double share = bytes == m_bytes.end()         ? 0
                             : parallel == m_parallel.end() ? bytes->second
                                                            : bytes->second / parallel->second;
        return {share, circuit.source, circuit.target};
    }

  private:
    std::unordered_map<uint64_t, double> m_bytes;
    std::unordered_map<uint64_t, uint32_t> m_parallel;
};

/// @return per rank: the number of its part. Parts are numbered in the order of their first ranks.
std::vector<uint32_t>
FindParts(uint32_t ranks, const std::vector<Circuit>& circuits)
{
    // As many circuits enter each rank as leave it, so a rank that is reachable one way is
    // reachable both ways. Direction can be ignored.
    std::vector<uint32_t> parent(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        parent[rank] = rank;
    }
    const auto find = [&parent](uint32_t rank) {
        while (parent[rank] != rank)
        {
            rank = parent[rank] = parent[parent[rank]];
        }
        return rank;
    };
    for (const Circuit& circuit : circuits)
    {
        const auto [low, high] = std::minmax({find(circuit.source), find(circuit.target)});
        parent[high] = low;
    }
    std::vector<uint32_t> part(ranks, NONE);
    uint32_t parts = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank)
    { // the root of a part is its first rank
        const uint32_t root = find(rank);
        part[rank] = root == rank ? parts++ : part[root];
    }
    return part;
}

} // namespace

void
ReplaceTwoEdges(uint32_t ranks, const std::vector<Demand>& demand, std::vector<Circuit>& circuits)
{
    const Shares shares(demand, circuits);
    std::vector<char> isUsed(ranks);
    for (const Circuit& circuit : circuits)
    {
        isUsed[circuit.source] = 1;
    }
    for (uint32_t rank = 0; rank < ranks; ++rank)
    {
        if (!isUsed[rank] && !circuits.empty())
        {
            const auto least = std::min_element(circuits.begin(),
                                                circuits.end(),
                                                [&shares](const Circuit& a, const Circuit& b) {
                                                    return shares.Get(a) < shares.Get(b);
                                                });
            const uint32_t target = std::exchange(least->target, rank);
            circuits.push_back({rank, target});
        }
    }
    const std::vector<uint32_t> part = FindParts(ranks, circuits);
    std::vector<uint32_t> cheapest; // per part: the circuit with the least demand
    for (uint32_t i = 0; i < circuits.size(); ++i)
    {
        const uint32_t where = part[circuits[i].source];
        if (where >= cheapest.size())
        {
            cheapest.resize(where + 1, NONE);
        }
        uint32_t& best = cheapest[where];
        if (best == NONE || shares.Get(circuits[i]) < shares.Get(circuits[best]))
        {
            best = i;
        }
    }
    for (std::size_t i = 1; i < cheapest.size(); ++i)
    {
        // the circuit of the first part now joins it to the other parts, and it may be exchanged
        // again
        std::swap(circuits[cheapest[0]].target, circuits[cheapest[i]].target);
    }
}

} // namespace cosim
