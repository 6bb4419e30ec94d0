/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_WIDE_ARITHMETIC_H
#define COSIM_WIDE_ARITHMETIC_H

#include <algorithm>
#include <cstdint>

/**
 * @file
 * Products of two 64-bit numbers, such as bytes × picoseconds, which 64 bits do not hold.
 */

namespace cosim
{

/// A number of 128 bits.
__extension__ using Uint128 = unsigned __int128;

/**
 * @param a a factor
 * @param b a factor
 * @param divisor not 0
 * @return floor(a·b / divisor), which must fit in 64 bits
 */
inline uint64_t
MultiplyDivide(uint64_t a, uint64_t b, uint64_t divisor)
{
    uint64_t product;
    if (!__builtin_mul_overflow(a, b, &product))
    { // most are: a 128-bit division is a call
        return product / divisor;
    }
    return static_cast<uint64_t>(Uint128{a} * b / divisor);
}

/**
 * @param a a factor
 * @param b a factor
 * @param divisor not 0
 * @param most the largest result
 * @return ceil(a·b / divisor), or `most` if that is less
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
