/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/fatal-errors.h"
#include "support/unit-test.h"

#include "ns3/fatal-error.h"

#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

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
        {"calls inside calls", &FatalErrorsTest::CanBeNested},
    });

} // namespace

} // namespace cosim
