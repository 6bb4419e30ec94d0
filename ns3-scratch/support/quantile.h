/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_QUANTILE_H
#define COSIM_QUANTILE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * @param count number of values, at least 1
 * @param q the quantile, 0 … 1
 * @return the position of the quantile among the sorted values, counted from 1: the first position
 * at which at least the share q of the values has been passed
 */
inline uint64_t
GetQuantilePlace(uint64_t count, double q)
{
    return static_cast<uint64_t>(std::max(1.0, std::ceil(q * static_cast<double>(count))));
}

/**
 * @param sorted values in ascending order
 * @param q the quantile, 0 … 1
 * @return the smallest value for which at least the share q of the values is at or below it; 0
 * without values
 */
template <typename T>
T
GetQuantile(const std::vector<T>& sorted, double q)
{
    return sorted.empty() ? T{} : sorted[GetQuantilePlace(sorted.size(), q) - 1];
}

} // namespace cosim

#endif // COSIM_QUANTILE_H
