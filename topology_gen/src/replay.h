/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPLAY_H
#define COSIM_REPLAY_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A schedule as arrays; see Sends. The sends of step t are stepBegin[t-1] … stepBegin[t]-1.
struct SendView
{
    std::span<const uint64_t> stepBegin;
    std::span<const uint32_t> link;
    std::span<const uint32_t> shard;
    std::span<const uint32_t> first;
    std::span<const uint32_t> count;
};

/**
 * Executes an all-gather send by send, and checks it: a node sends only what it had before the
 * step, receives no chunk that it has, and has every chunk of every shard at the end.
 *
 * A reduce-scatter is checked as the reverse of an all-gather: a node sends each chunk of each
 * shard of other nodes once, after it has received all its parts.
 *
 * @param nodes number of nodes
 * @param source for each link, the node that it leaves
 * @param target for each link, the node that it enters
 * @param chunks number of chunks per shard
 * @param sends the schedule
 * @param isReduceScatter whether the schedule is a reduce-scatter
 * @return for each step, the number of chunks on the most loaded link
 * @throws std::invalid_argument with a description of the first error
 */
std::vector<uint64_t> Replay(uint32_t nodes,
                             std::span<const uint32_t> source,
                             std::span<const uint32_t> target,
                             uint32_t chunks,
                             const SendView& sends,
                             bool isReduceScatter);

} // namespace cosim

#endif // COSIM_REPLAY_H
