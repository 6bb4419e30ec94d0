/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/histogram.h"
#include "support/unit-test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace cosim
{

namespace
{

constexpr double QUANTILES[] = {0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1};

/// @return the smallest of the sorted values for which at least the share q is at or below it
double
GetExactQuantile(const std::vector<uint64_t>& sorted, double q)
{
    const double rank = std::ceil(q * static_cast<double>(sorted.size()));
    return static_cast<double>(sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1]);
}

class HistogramTest : public UnitTest<HistogramTest>
{
  public:
    using UnitTest::UnitTest;

    void IsExactForSmallValues()
    {
        Histogram histogram;
        std::vector<uint64_t> values;
        for (uint64_t value = 0; value < 256; ++value)
        {
            values.push_back(value);
            histogram.Add(value);
        }
        for (const double q : QUANTILES)
        {
            NS_TEST_ASSERT_MSG_EQ(histogram.GetQuantile(q), GetExactQuantile(values, q), q);
        }
        NS_TEST_ASSERT_MSG_EQ(histogram.GetMean(), 127.5, "mean");
    }

    void IsCloseForAll()
    {
        std::mt19937_64 random(1);
        Histogram histogram;
        std::vector<uint64_t> values;
        uint64_t sum = 0;
        for (int i = 0; i < 20000; ++i)
        { // the same number of values of each magnitude
            values.push_back(random() >> (random() % 64));
            histogram.Add(values.back());
            sum += values.back() >> 16;
        }
        std::sort(values.begin(), values.end());
        for (const double q : QUANTILES)
        {
            const double exact = GetExactQuantile(values, q);
            NS_TEST_ASSERT_MSG_EQ_TOL(histogram.GetQuantile(q), exact, 0.002 * exact, q);
        }
        NS_TEST_ASSERT_MSG_EQ(histogram.GetCount(), 20000, "count");
        NS_TEST_ASSERT_MSG_EQ(histogram.GetMax(), values.back(), "maximum");
        const double mean = std::ldexp(static_cast<double>(sum), 16) / 20000;
        NS_TEST_ASSERT_MSG_EQ_TOL(histogram.GetMean(), mean, 1e-9 * mean, "mean");
    }

    void StaysWithinTheMaximum()
    {
        for (const uint64_t value : {uint64_t{1} << 20, std::numeric_limits<uint64_t>::max()})
        { // the first value of its bucket, whose middle is larger, and the largest value
            Histogram histogram;
            histogram.Add(value);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(histogram.GetQuantile(0.5),
                                        static_cast<double>(value),
                                        "the median of one value");
        }
    }

    void HasNothingWithoutValues()
    {
        const Histogram histogram;
        NS_TEST_ASSERT_MSG_EQ(histogram.GetCount(), 0, "count");
        NS_TEST_ASSERT_MSG_EQ(histogram.GetMean(), 0, "mean");
        NS_TEST_ASSERT_MSG_EQ(histogram.GetMax(), 0, "maximum");
        NS_TEST_ASSERT_MSG_EQ(histogram.GetQuantile(0.5), 0, "median");
    }

    void Replaces()
    {
        Histogram replaced;
        Histogram direct;
        for (uint64_t i = 1; i <= 1000; ++i)
        {
            replaced.Add(i);
            replaced.Replace(i, 17 * i);
            direct.Add(17 * i);
        }
        for (const double q : QUANTILES)
        {
            NS_TEST_ASSERT_MSG_EQ(replaced.GetQuantile(q), direct.GetQuantile(q), q);
        }
        NS_TEST_ASSERT_MSG_EQ(replaced.GetCount(), direct.GetCount(), "count");
        NS_TEST_ASSERT_MSG_EQ(replaced.GetMean(), direct.GetMean(), "mean");
        NS_TEST_ASSERT_MSG_EQ(replaced.GetMax(), direct.GetMax(), "maximum");
    }
};

const UnitTestSuite<HistogramTest> g_histogramTests(
    "histogram",
    {
        {"quantiles below 256 are exact", &HistogramTest::IsExactForSmallValues},
        {"quantiles are within 0.2 %; count, mean and maximum exact",
         &HistogramTest::IsCloseForAll},
        {"no quantile is above the maximum", &HistogramTest::StaysWithinTheMaximum},
        {"without values all is 0", &HistogramTest::HasNothingWithoutValues},
        {"a replaced value leaves no trace", &HistogramTest::Replaces},
    });

} // namespace

} // namespace cosim
