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

/// The digraph of a schedule: for each link, the nodes that it leaves and enters.
struct LinkEnds
{
    uint32_t nodes;
    std::span<const uint32_t> source;
    std::span<const uint32_t> target;
};

/**
 * Executes an all-gather or a broadcast send by send, and checks it: a node sends only what it had
 * before the step, receives no chunk that it has, and has every chunk of every shard at the end.
 *
 * A reduce-scatter or a reduce is checked as the reverse: a node sends each chunk of each shard of
 * other nodes once, after it has received all its parts.
 *
 * @param graph the digraph
 * @param chunks number of chunks per shard
 * @param sends the schedule
 * @param owners for each shard, the node whose shard it is
 * @param isReduction whether the schedule is a reduce-scatter or a reduce
 * @return for each step, the number of chunks on the most loaded link
 * @throws std::invalid_argument with a description of the first error
 */
std::vector<uint64_t> Replay(const LinkEnds& graph,
                             uint32_t chunks,
                             const SendView& sends,
                             std::span<const uint32_t> owners,
                             bool isReduction);

} // namespace cosim

#endif // COSIM_REPLAY_H
