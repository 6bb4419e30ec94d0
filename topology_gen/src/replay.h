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

/// A schedule as arrays; see Sends. Step t's sends are stepBegin[t-1] … stepBegin[t]-1.
struct SendView
{
    std::span<const uint64_t> stepBegin;
    std::span<const uint32_t> link;
    std::span<const uint32_t> shard;
    std::span<const uint32_t> first;
    std::span<const uint32_t> count;
};

/**
 * Play an allgather, send by send, and check it: a node sends only what it had before the step,
 * gets no chunk that it has, and has every chunk of every shard at the end.
 *
 * A reduce-scatter is checked as the allgather that it reverses: a node passes each chunk of each
 * shard on once, and after all that it takes in of it.
 *
 * @param nodes number of nodes
 * @param source node that each link leaves
 * @param target node that each link enters
 * @param chunks chunks of a shard
 * @param sends the schedule
 * @param isReduceScatter whether it is a reduce-scatter
 * @return of each step, the chunks that the most loaded link carries
 * @throws std::invalid_argument with what is wrong first
 */
std::vector<uint64_t> Replay(uint32_t nodes,
                             std::span<const uint32_t> source,
                             std::span<const uint32_t> target,
                             uint32_t chunks,
                             const SendView& sends,
                             bool isReduceScatter);

} // namespace cosim

#endif // COSIM_REPLAY_H
