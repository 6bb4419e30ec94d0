/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cosim
{

namespace
{

constexpr int PRECISION_BITS = 8; //!< log2 of the buckets in an octave

/// @return the bucket of a value: the value itself below 2^(p+1), then p+1 leading bits
std::size_t
BucketOf(uint64_t value)
{
    const auto width = static_cast<int>(std::bit_width(value));
    if (width <= PRECISION_BITS + 1)
    {
        return static_cast<std::size_t>(value);
    }
    const int shift = width - PRECISION_BITS - 1;
    return (static_cast<std::size_t>(shift) << PRECISION_BITS) +
           static_cast<std::size_t>(value >> shift);
}

/// @return the middle of a bucket
double
MiddleOf(std::size_t bucket)
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

} // namespace

void
Histogram::Add(uint64_t value)
{
    const std::size_t bucket = BucketOf(value);
    if (bucket >= m_buckets.size())
    {
        m_buckets.resize(bucket + 1);
    }
    ++m_buckets[bucket];
    ++m_count;
    m_max = std::max(m_max, value);
    m_sum += static_cast<double>(value);
}

uint64_t
Histogram::GetCount() const
{
    return m_count;
}

double
Histogram::GetMean() const
{
    return m_count == 0 ? 0 : m_sum / static_cast<double>(m_count);
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
    const double wanted = std::max(1.0, std::ceil(q * static_cast<double>(m_count)));
    double seen = 0;
    for (std::size_t bucket = 0; bucket < m_buckets.size(); ++bucket)
    {
        seen += static_cast<double>(m_buckets[bucket]);
        if (seen >= wanted)
        {
            return std::min(MiddleOf(bucket), static_cast<double>(m_max));
        }
    }
    return static_cast<double>(m_max);
}

} // namespace cosim
