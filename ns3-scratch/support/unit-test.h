/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_UNIT_TEST_H
#define COSIM_UNIT_TEST_H

#include "ns3/test.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <random>
#include <sstream>
#include <string>
#include <utility>

namespace cosim
{

/**
 * @param random generator with a constant seed, so that each run of a test is the same
 * @param end more than 0
 * @return a number from 0 to end - 1
 */
inline uint32_t
Draw(std::mt19937& random, std::size_t end)
{
    return static_cast<uint32_t>(random() % end);
}

/**
 * A test case of ns-3's framework whose body is a member function.
 *
 * ns-3 needs a class per test case, because its NS_TEST_… macros call members of ns3::TestCase.
 * Here one class `Test`, which derives from this one, holds all cases about a subject as member
 * functions.
 */
template <typename Test>
class UnitTest : public ns3::TestCase
{
  public:
    using Body = void (Test::*)(); //!< body of a test case

    /**
     * @param law the statement that the case tests
     * @param body the member function that tests it
     */
    UnitTest(const std::string& law, Body body)
        : TestCase(law),
          m_body(body)
    {
    }

  protected:
    /// @return the message of the exception that a call throws; empty if it throws none
    template <typename Call>
    static std::string GetRefusal(Call&& call)
    {
        try
        {
            call();
        }
        catch (const std::exception& error)
        {
            return error.what();
        }
        return {};
    }

    /**
     * @return the values as text, separated by spaces. Tests compare lists as text, so that
     * failures show them.
     */
    template <typename Values>
    static std::string Join(const Values& values)
    {
        std::ostringstream text;
        for (const auto& value : values)
        {
            text << (text.view().empty() ? "" : " ") << value;
        }
        return text.str();
    }

  private:
    void DoRun() override
    {
        // ns-3 does not catch exceptions of a test case: the program would end without a report.
        const std::string thrown = GetRefusal([this] { (static_cast<Test*>(this)->*m_body)(); });
        NS_TEST_ASSERT_MSG_EQ(thrown, "", "the case throws");
    }

    Body m_body;
};

/// A test suite with the cases of one class. Its name is the name of the file without `-test.cc`.
template <typename Test>
class UnitTestSuite : public ns3::TestSuite
{
  public:
    /**
     * @param name name of the file without `-test.cc`
     * @param cases for each case, the statement that it tests and its body
     */
    UnitTestSuite(const std::string& name,
                  std::initializer_list<std::pair<const char*, void (Test::*)()>> cases)
        : TestSuite(name)
    {
        for (const auto& [law, body] : cases)
        {
            AddTestCase(new Test(law, body)); // the suite deletes the case
        }
    }
};

} // namespace cosim

#endif // COSIM_UNIT_TEST_H
