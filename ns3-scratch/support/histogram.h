/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HISTOGRAM_H
#define COSIM_HISTOGRAM_H

#include "support/wide-arithmetic.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * The distribution of non-negative integers, in memory that does not grow with the number of
 * values.
 *
 * The buckets are spaced logarithmically, with 256 buckets per octave. A quantile is therefore
 * exact to 0.2 %, and values below 256 are exact. Count, mean and maximum are exact.
 */
class Histogram
{
  public:
    /// @param value the value to count
    void Add(uint64_t value)
    {
        const std::size_t bucket = BucketOf(value);
        if (bucket >= m_buckets.size())
        {
            Grow(bucket + 1);
        }
        ++m_buckets[bucket];
        ++m_count;
        m_max = std::max(m_max, value);
        m_sum += value;
    }

    /**
     * Replace a counted value by a larger one.
     *
     * @param value a value that was counted
     * @param larger the new value
     */
    void Replace(uint64_t value, uint64_t larger);

    /// @return the number of counted values
    uint64_t GetCount() const;

    /// @return the mean, or 0 without values
    double GetMean() const;

    /// @return the largest value, or 0 without values
    uint64_t GetMax() const;

    /**
     * @param q the quantile, 0 … 1
     * @return the middle of the first bucket for which at least the share q of the values is at or
     * below it; 0 without values
     */
    double GetQuantile(double q) const;

  private:
    static constexpr int PRECISION_BITS = 8; //!< log2 of the number of buckets per octave

    /**
     * @return the bucket of a value: below 2^(p+1) the value itself, then one bucket per p+1
     * leading bits
     */
    static std::size_t BucketOf(uint64_t value)
    {
        const auto width = static_cast<int>(std::bit_width(value));
        const int shift = std::max(width - PRECISION_BITS - 1, 0);
        return (static_cast<std::size_t>(shift) << PRECISION_BITS) +
               static_cast<std::size_t>(value >> shift);
    }

    static double MiddleOf(std::size_t bucket);
    void Grow(std::size_t buckets);

    std::vector<uint64_t> m_buckets; //!< ends with the largest bucket in use
    uint64_t m_count{0};
    uint64_t m_max{0};
    Uint128 m_sum{0};
};

} // namespace cosim

#endif // COSIM_HISTOGRAM_H
