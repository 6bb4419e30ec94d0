/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_HISTOGRAM_H
#define COSIM_HISTOGRAM_H

#include <cstdint>
#include <vector>

namespace cosim
{

/**
 * Distribution of non-negative integers in constant memory.
 *
 * Buckets are spaced logarithmically, 256 to an octave, so a quantile is exact to 0.2 % (and below
 * 256, to the unit) whatever the number of values; count, mean and maximum are exact.
 */
class Histogram
{
  public:
    /// @param value the value to count
    void Add(uint64_t value);

    /// @return how many values were added
    uint64_t GetCount() const;

    /// @return the mean, 0 without values
    double GetMean() const;

    /// @return the largest value, 0 without values
    uint64_t GetMax() const;

    /**
     * @param q the quantile, 0 … 1
     * @return the smallest bucket's middle with at least the share q of the values at or below it;
     * 0 without values
     */
    double GetQuantile(double q) const;

  private:
    std::vector<uint64_t> m_buckets; //!< grown to the largest bucket in use
    uint64_t m_count{0};
    uint64_t m_max{0};
    double m_sum{0};
};

} // namespace cosim

#endif // COSIM_HISTOGRAM_H
