/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_SWITCH_REMOVAL_H
#define COSIM_SWITCH_REMOVAL_H

#include "graphs/capacities.h"
#include "graphs/max-flow.h"

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// A path between two ranks over switches, or a link between them.
struct Channel
{
    uint32_t source;
    uint32_t target;
    int64_t capacity;
    std::vector<uint32_t> links; //!< the links of the path
};

/**
 * Replaces the switches of a network by paths over them, such that every rank can still get as much
 * from the others. Switches neither start nor copy anything, so spanning trees need such paths.
 *
 * A link into a switch and a link out of it are joined as far as all cuts allow (edge splitting; J.
 * Bang-Jensen, A. Frank, B. Jackson, "Preserving and increasing local edge-connectivity in mixed
 * graphs", 1995). This succeeds for all links of a switch that has as much capacity in as out.
 *
 * Source: L. Zhao et al., "ForestColl", arXiv 2402.06787.
 */
class SwitchRemoval
{
  public:
    /**
     * @param graph ranks, followed by switches
     * @param supply for each node, the amount that all ranks need from it; 0 for switches
     * @param ranks number of ranks
     * @throws std::invalid_argument if the arrays do not fit together
     */
    SwitchRemoval(const Capacities& graph, std::span<const int64_t> supply, uint32_t ranks);

    /// @return the links and paths between ranks, with a capacity of at least 1
    std::vector<Channel> Run();

  private:
    void Remove(uint32_t node);

    /// Joins up to `share` of a channel into a switch with one out of it, as far as possible.
    void Join(uint32_t in, uint32_t out, int64_t share);

    /// @return how much of two channels may be joined, at most `most`
    int64_t FindRoom(uint32_t in, uint32_t out, int64_t most);

    /**
     * @param origins nodes that a cut keeps on the senders' side
     * @param members nodes that it keeps on the receivers' side, together with `rank`
     * @return how much the least such cut exceeds what all ranks need, at most `most`
     */
    int64_t FindExcess(std::span<const uint32_t> origins,
                       std::span<const uint32_t> members,
                       uint32_t rank,
                       int64_t most);

    uint32_t m_nodes;
    uint32_t m_ranks;
    int64_t m_wanted; //!< sum of the supplies
    std::vector<int64_t> m_supply;
    std::vector<Channel> m_channels;
    MaxFlow m_flow; //!< arcs: the supplies, then the channels
};

} // namespace cosim

#endif // COSIM_SWITCH_REMOVAL_H
