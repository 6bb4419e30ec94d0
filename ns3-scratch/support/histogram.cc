/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/histogram.h"

#include "support/quantile.h"

#include <algorithm>
#include <cmath>

namespace cosim
{

/// @return the middle of a bucket
double
Histogram::MiddleOf(std::size_t bucket)
{
    constexpr std::size_t exact = std::size_t{2} << PRECISION_BITS;
    if (bucket < exact)
    {
        return static_cast<double>(bucket);
    }
    const std::size_t shift = (bucket >> PRECISION_BITS) - 1;
    const std::size_t lead = bucket - (shift << PRECISION_BITS);
    return std::ldexp(static_cast<double>(lead) + 0.5, static_cast<int>(shift)) - 0.5;
}

void
Histogram::Grow(std::size_t buckets)
{
    m_buckets.resize(buckets);
}

void
Histogram::Replace(uint64_t value, uint64_t larger)
{
    --m_buckets[BucketOf(value)];
    --m_count;
    m_sum -= value;
    Add(larger);
}

uint64_t
Histogram::GetCount() const
{
    return m_count;
}

double
Histogram::GetMean() const
{
    return m_count == 0 ? 0 : static_cast<double>(m_sum) / static_cast<double>(m_count);
}

uint64_t
Histogram::GetMax() const
{
    return m_max;
}

double
Histogram::GetQuantile(double q) const
{
    if (m_count == 0)
    {
        return 0;
    }
    const uint64_t place = GetQuantilePlace(m_count, q);
    uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < m_buckets.size(); ++bucket)
    {
        seen += m_buckets[bucket];
        if (seen >= place)
        {
            return std::min(MiddleOf(bucket), static_cast<double>(m_max));
        }
    }
    return static_cast<double>(m_max);
}

} // namespace cosim
