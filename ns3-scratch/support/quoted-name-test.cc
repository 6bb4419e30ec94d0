/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/quoted-name.h"
#include "support/unit-test.h"

#include <string>

namespace cosim
{

namespace
{

class QuotedNameTest : public UnitTest<QuotedNameTest>
{
  public:
    using UnitTest::UnitTest;

    void HasNothingThatControlsATerminal()
    {
        NS_TEST_ASSERT_MSG_EQ(Quote("express"), "'express'", "an ordinary name");
        NS_TEST_ASSERT_MSG_EQ(Quote("\x1b[31m \nx\x7fy\xc2z"),
                              "'?[31m ?x?y?z'",
                              "control characters");
    }

    void IsShort()
    {
        NS_TEST_ASSERT_MSG_EQ(Quote(std::string(64, 'x')),
                              "'" + std::string(64, 'x') + "'",
                              "whole");
        NS_TEST_ASSERT_MSG_EQ(Quote(std::string(65, 'x')),
                              "'" + std::string(64, 'x') + "...'",
                              "one byte more");
    }
};

const UnitTestSuite<QuotedNameTest> g_quotedNameTests(
    "quoted-name",
    {
        {"it cannot control a terminal", &QuotedNameTest::HasNothingThatControlsATerminal},
        {"it is short", &QuotedNameTest::IsShort},
    });

} // namespace

} // namespace cosim
