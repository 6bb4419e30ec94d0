/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/unit-test.h"
#include "support/wide-arithmetic.h"

#include <limits>
#include <random>

namespace cosim
{

namespace
{

constexpr uint64_t MAX = std::numeric_limits<uint64_t>::max();

class WideArithmeticTest : public UnitTest<WideArithmeticTest>
{
  public:
    using UnitTest::UnitTest;

    void RoundsDown()
    {
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(7, 3, 4), 5, "21 / 4");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(0, MAX, MAX), 0, "nothing");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(MAX, 1, 2), MAX / 2, "64 bits are enough");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(MAX, 6, 8), MAX / 4 * 3 + 2, "they are not");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(MAX, MAX, MAX), MAX, "the largest product");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(MAX - 1, MAX, MAX), MAX - 1, "the one before");
    }

    void RoundsUp()
    {
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(7, 3, 4, MAX), 6, "21 / 4");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(5, 4, 4, MAX), 5, "without a remainder");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(0, 5, 4, MAX), 0, "nothing");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(MAX, 1, 2, MAX), MAX / 2 + 1, "the sum overflows");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(MAX, 6, 8, MAX),
                              MAX / 4 * 3 + 3,
                              "the product does");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(MAX, MAX, MAX, MAX), MAX, "the largest product");
    }

    void IsLimited()
    {
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(7, 3, 1, 20), 20, "above the limit");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(7, 3, 1, 21), 21, "at the limit");
        NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(MAX, MAX, 1, 20), 20, "a quotient of 128 bits");
    }

    void UndoesAMultiplication()
    {
        std::mt19937_64 random(1);
        for (int i = 0; i < 10000; ++i)
        {
            const uint64_t a = random() >> (random() % 64);
            const uint64_t b = (random() >> (random() % 64)) | 1;
            NS_TEST_ASSERT_MSG_EQ(MultiplyDivide(a, b, b), a, a << " × " << b);
            NS_TEST_ASSERT_MSG_EQ(MultiplyDivideUp(a, b, b, MAX), a, a << " × " << b);
            const uint64_t next = MultiplyDivideUp(a, b - 1, b, MAX);
            NS_TEST_ASSERT_MSG_EQ(next, a - MultiplyDivide(a, 1, b), "a - floor(a / b)");
        }
    }
};

const UnitTestSuite<WideArithmeticTest> g_wideArithmeticTests(
    "wide-arithmetic",
    {
        {"a quotient is rounded down", &WideArithmeticTest::RoundsDown},
        {"a quotient is rounded up", &WideArithmeticTest::RoundsUp},
        {"a quotient is limited", &WideArithmeticTest::IsLimited},
        {"a division undoes a multiplication", &WideArithmeticTest::UndoesAMultiplication},
    });

} // namespace

} // namespace cosim
