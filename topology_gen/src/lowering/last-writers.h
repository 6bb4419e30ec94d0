/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LAST_WRITERS_H
#define COSIM_LAST_WRITERS_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// Instructions in an order in which they can be executed; all spans have the same length.
struct Accesses
{
    std::span<const int64_t> rank;  //!< whose memory it uses
    std::span<const int64_t> read;  //!< the first place that it reads, or -1
    std::span<const int64_t> write; //!< the first place that it writes, after reading, or -1
    std::span<const int64_t> count; //!< number of places
};

/// Pairs of an instruction and an earlier one; instructions are numbered in their order.
struct Orders
{
    std::vector<int64_t> reader; //!< ascending
    std::vector<int64_t> writer; //!< ascending for each reader
};

/**
 * Finds for each instruction those that wrote last to the places that it reads.
 *
 * @param accesses the instructions; a place is the code of a buffer times `width` and an offset
 * @param width more than the greatest offset
 * @throws std::invalid_argument if the arrays do not fit together or a number is out of range
 */
Orders LastWriters(const Accesses& accesses, int64_t width);

} // namespace cosim

#endif // COSIM_LAST_WRITERS_H
