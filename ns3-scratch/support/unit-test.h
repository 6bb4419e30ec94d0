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
 * @param random seeded with a constant: a test is the same in every run
 * @param end above 0
 * @return a number from 0 to below the end
 */
inline uint32_t
Draw(std::mt19937& random, std::size_t end)
{
    return static_cast<uint32_t>(random() % end);
}

/**
 * Test cases of ns-3's framework that are the member functions of one class.
 *
 * ns-3 wants a class for every case, because its NS_TEST_… macros call members of ns3::TestCase.
 * Here, all cases of one thing are members of a class `Test` that derives from this one.
 */
template <typename Test>
class UnitTest : public ns3::TestCase
{
  public:
    using Body = void (Test::*)(); //!< one case

    /**
     * @param law what the case shows, as a statement
     * @param body the case
     */
    UnitTest(const std::string& law, Body body)
        : TestCase(law),
          m_body(body)
    {
    }

  protected:
    /// @return the text of the exception that a call throws; empty if it throws none
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

    /// @return the values with spaces between: two lists are compared, and shown, as text
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
        // ns-3 does not catch what a case throws: the program would end without a report.
        const std::string thrown = GetRefusal([this] { (static_cast<Test*>(this)->*m_body)(); });
        NS_TEST_ASSERT_MSG_EQ(thrown, "", "the case throws");
    }

    Body m_body;
};

/// The cases of one class, registered under the name of their file without `-test.cc`.
template <typename Test>
class UnitTestSuite : public ns3::TestSuite
{
  public:
    /**
     * @param name the file's name without `-test.cc`
     * @param cases what each case shows, and its body
     */
    UnitTestSuite(const std::string& name,
                  std::initializer_list<std::pair<const char*, void (Test::*)()>> cases)
        : TestSuite(name)
    {
        for (const auto& [law, body] : cases)
        {
            AddTestCase(new Test(law, body)); // the suite deletes it
        }
    }
};

} // namespace cosim

#endif // COSIM_UNIT_TEST_H
