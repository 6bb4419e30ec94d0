/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_UNEVEN_BALANCE_H
#define COSIM_UNEVEN_BALANCE_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/**
 * Spreads chunks over links that differ in latency and speed, such that the last link is done as
 * early as possible. A link is done after its latency and the time of its chunks, or at once if it
 * has no chunks.
 */
struct UnevenBalance
{
    /// Groups of chunks: group i may use the links link[begin[i]] … link[begin[i+1]-1].
    std::span<const uint32_t> begin;
    std::span<const uint32_t> link;    //!< numbers from 0
    std::span<const int64_t> chunks;   //!< for each group, its number of chunks, at least 1
    std::span<const double> latency;   //!< for each link, at least 0
    std::span<const double> chunkTime; //!< for each link, more than 0

    /**
     * @return for each entry of `link`, the number of chunks of the group on this link
     * @throws std::invalid_argument if the arrays do not fit together or a group has no links
     */
    std::vector<int64_t> Run() const;
};

} // namespace cosim

#endif // COSIM_UNEVEN_BALANCE_H
