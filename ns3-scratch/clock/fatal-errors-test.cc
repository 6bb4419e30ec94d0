/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/fatal-errors.h"
#include "support/unit-test.h"

#include "ns3/fatal-error.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

void
ThrowThroughFrames(std::size_t depth)
{
    std::array<volatile char, 24> frame;
    frame[depth] = 1;
    if (depth == 0)
    {
        throw std::runtime_error("a reason");
    }
    ThrowThroughFrames(depth - frame[depth]);
}

std::size_t
SumOfLargeFrame()
{
    std::array<volatile char, 4096> frame;
    std::fill(frame.begin(), frame.end(), 1);
    return std::accumulate(frame.begin(), frame.end(), std::size_t{0});
}

class FatalErrorsTest : public UnitTest<FatalErrorsTest>
{
  public:
    using UnitTest::UnitTest;

    void ReturnsNothingWithoutOne()
    {
        int calls = 0;
        NS_TEST_ASSERT_MSG_EQ(CatchFatalErrors([&calls] { ++calls; }), "", "no error");
        NS_TEST_ASSERT_MSG_EQ(calls, 1, "the function was called");
    }

    void ReturnsTheTextOfNs3()
    {
        bool isBehind = false;
        for (int i = 0; i < 3; ++i) // each time on another stack
        {
            const std::string text = CatchFatalErrors([&isBehind] {
                const std::string unfreed(100, 'x'); // no leak, as its stack stays
                NS_FATAL_ERROR("a delay\nof -1");
                isBehind = true;
            });
            NS_TEST_ASSERT_MSG_EQ(text.substr(0, 20), "msg=\"a delay of -1\",", "in one line");
            NS_TEST_ASSERT_MSG_EQ(text.find("terminating"), std::string::npos, "only the error");
        }
        NS_TEST_ASSERT_MSG_EQ(isBehind, false, "the function does not go on");
    }

    void PassesExceptions()
    {
        std::string caught;
        try
        {
            CatchFatalErrors([] { throw std::invalid_argument("a reason"); });
        }
        catch (const std::invalid_argument& error)
        {
            caught = error.what();
        }
        NS_TEST_ASSERT_MSG_EQ(caught, "a reason", "the same exception");
    }

    /// With AddressSanitizer, it ends the program if AddressSanitizer does not know the stack.
    void ReusesTheStackAfterAnException()
    {
        std::size_t sum = 0;
        CatchFatalErrors([&sum] {
            try
            {
                ThrowThroughFrames(16);
            }
            catch (const std::runtime_error&)
            {
                sum = SumOfLargeFrame();
            }
        });
        NS_TEST_ASSERT_MSG_EQ(sum, 4096, "the memory can be written and read");
    }

    void CanBeNested()
    {
        std::string inner;
        const std::string outer = CatchFatalErrors([&inner] {
            inner = CatchFatalErrors([] { NS_FATAL_ERROR("inner"); });
            NS_FATAL_ERROR("outer");
        });
        NS_TEST_ASSERT_MSG_EQ(inner.substr(0, 11), "msg=\"inner\"", "the inner call returns");
        NS_TEST_ASSERT_MSG_EQ(outer.substr(0, 11), "msg=\"outer\"", "and so does the outer one");
    }
};

const UnitTestSuite<FatalErrorsTest> g_fatalErrorsTests(
    "fatal-errors",
    {
        {"a function without an error", &FatalErrorsTest::ReturnsNothingWithoutOne},
        {"the text of an error", &FatalErrorsTest::ReturnsTheTextOfNs3},
        {"exceptions", &FatalErrorsTest::PassesExceptions},
        {"the stack after an exception", &FatalErrorsTest::ReusesTheStackAfterAnException},
        {"calls inside calls", &FatalErrorsTest::CanBeNested},
    });

} // namespace

} // namespace cosim
