/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIDE_ARITHMETIC_H
#define COSIM_WIDE_ARITHMETIC_H

#include <algorithm>
#include <cstdint>

/**
 * @file
 * Computes products of two 64-bit numbers that do not fit in 64 bits, such as bytes × picoseconds.
 */

namespace cosim
{

/// An unsigned integer with 128 bits.
__extension__ using Uint128 = unsigned __int128;

/**
 * @param a a factor
 * @param b a factor
 * @param divisor must not be 0
 * @return floor(a·b / divisor); the result must fit in 64 bits
 */
inline uint64_t
MultiplyDivide(uint64_t a, uint64_t b, uint64_t divisor)
{
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
    { // Most products fit. This avoids a call to the slow 128-bit division.
        return product / divisor;
    }
    return static_cast<uint64_t>(Uint128{a} * b / divisor);
}

/**
 * @param a a factor
 * @param b a factor
 * @param divisor must not be 0
 * @param most upper limit of the result
 * @return ceil(a·b / divisor), but at most `most`
 */
inline uint64_t
MultiplyDivideUp(uint64_t a, uint64_t b, uint64_t divisor, uint64_t most)
{
    uint64_t product;
    uint64_t raised;
    if (!__builtin_mul_overflow(a, b, &product) &&
        !__builtin_add_overflow(product, divisor - 1, &raised))
    {
        return std::min(raised / divisor, most);
    }
    return static_cast<uint64_t>(std::min((Uint128{a} * b + divisor - 1) / divisor, Uint128{most}));
}

} // namespace cosim

#endif // COSIM_WIDE_ARITHMETIC_H
