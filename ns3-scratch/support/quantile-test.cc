/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/quantile.h"
#include "support/unit-test.h"

#include <algorithm>

namespace cosim
{

namespace
{

class QuantileTest : public UnitTest<QuantileTest>
{
  public:
    using UnitTest::UnitTest;

    void IsTheFirstWithTheShare()
    {
        for (uint64_t count = 1; count <= 1000; ++count)
        {
            for (const uint64_t percent : {1, 25, 50, 90, 99, 100})
            {
                // Use integers, so that rounding cannot hide an error.
                const uint64_t place = GetQuantilePlace(count, static_cast<double>(percent) / 100);
                NS_TEST_ASSERT_MSG_LT_OR_EQ(percent * count, 100 * place, "enough values");
                NS_TEST_ASSERT_MSG_LT(100 * (place - 1), percent * count, "no place less");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(GetQuantilePlace(10, 0), 1, "at least the first");
    }

    void IsOneOfTheValues()
    {
        const std::vector<uint64_t> values{2, 3, 5, 8, 8};
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 0), 2, "the least");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 0.2), 2, "one of five");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 0.21), 3, "a little more");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 0.5), 5, "the median");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 0.99), 8, "not between two");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(values, 1), 8, "the largest");
        NS_TEST_ASSERT_MSG_EQ(GetQuantile(std::vector<double>{}, 0.5), 0, "none");
    }
};

const UnitTestSuite<QuantileTest> g_quantileTests(
    "quantile",
    {
        {"a quantile is the first place with its share", &QuantileTest::IsTheFirstWithTheShare},
        {"a quantile is one of the values", &QuantileTest::IsOneOfTheValues},
    });

} // namespace

} // namespace cosim
