/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FLOW_HASH_H
#define COSIM_FLOW_HASH_H

#include "stream/path-table.h"

#include <cstdint>

namespace cosim
{

/**
 * Mix a flow and a hop into a pseudo-random number.
 *
 * This is the mixing function of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014). It must
 * equal topology_gen.networks.shortest_paths.flow_hash, because both sides compute the same paths.
 *
 * @param source rank that sends the data of the flow
 * @param target rank that receives the data
 * @param route index of the path among the paths of the pair
 * @param hop number of the hop on the path, from 0
 * @return a number of 63 bits
 */
inline uint64_t
HashFlow(uint32_t source, uint32_t target, uint64_t route, uint64_t hop)
{
    uint64_t word = PairOf(source, target);
    for (const uint64_t salt : {route, hop})
    {
        word += (salt + 1) * 0x9E3779B97F4A7C15;
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9;
        word = (word ^ (word >> 27)) * 0x94D049BB133111EB;
        word ^= word >> 31;
    }
    return word >> 1;
}

} // namespace cosim

#endif // COSIM_FLOW_HASH_H
