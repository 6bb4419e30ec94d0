/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/json-writer.h"
#include "support/unit-test.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace cosim
{

namespace
{

/// @return the text of one value
template <typename T>
std::string
Write(void (JsonWriter::*write)(T), T value)
{
    JsonWriter json;
    (json.*write)(value);
    return json.GetText();
}

class JsonWriterTest : public UnitTest<JsonWriterTest>
{
  public:
    using UnitTest::UnitTest;

    void Nests()
    {
        JsonWriter json;
        json.BeginObject();
        json.Key("empty").BeginArray();
        json.EndArray();
        json.Key("list").BeginArray();
        json.Uint(1);
        json.BeginObject();
        json.EndObject();
        json.BeginArray();
        json.String("a");
        json.String("b");
        json.EndArray();
        json.EndArray();
        json.Key("last").Double(0.5);
        json.EndObject();
        NS_TEST_ASSERT_MSG_EQ(json.GetText(),
                              R"({"empty":[],"list":[1,{},["a","b"]],"last":0.5})",
                              "commas stand between values only");
    }

    void Quotes()
    {
        const std::vector<std::pair<std::string, std::string>> cases{
            {"", R"("")"},
            {R"(a"b\c/d)", R"("a\"b\\c/d")"},
            {"a\nb\tc", R"("a\u000ab\u0009c")"},
            {std::string("\x00\x1f\x20\x7f", 4), "\"\\u0000\\u001f \x7f\""},
            {"µs → 2⁶³", "\"µs → 2⁶³\""},
        };
        for (const auto& [text, quoted] : cases)
        {
            NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::String, std::string_view(text)), quoted, text);
            JsonWriter json;
            json.BeginObject();
            json.Key(text).Uint(0);
            NS_TEST_ASSERT_MSG_EQ(json.GetText(), "{" + quoted + ":0", "the same as a key");
        }
    }

    void DoublesReadBack()
    {
        std::mt19937_64 random(1);
        for (int i = 0; i < 1000; ++i)
        {
            const double value = std::ldexp(static_cast<double>(random()), i - 564);
            const std::string text = Write(&JsonWriter::Double, value);
            NS_TEST_ASSERT_MSG_EQ(std::strtod(text.c_str(), nullptr), value, text);
        }
        NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::Double, 0.1), "0.1", "the shortest digits");
        NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::Double, 3.0), "3", "a whole number");
        for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
        {
            NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::Double, value),
                                  "null",
                                  "JSON has no " << value);
        }
    }

    void NanosecondsAreExact()
    {
        const std::vector<std::pair<uint64_t, std::string>> cases{
            {0, "0"},
            {1, "0.001"},
            {10, "0.01"},
            {500, "0.5"},
            {1000, "1"},
            {1500, "1.5"},
            {10'000, "10"},
            {1'000'020, "1000.02"},
            {std::numeric_limits<uint64_t>::max(), "18446744073709551.615"},
        };
        for (const auto& [ps, text] : cases)
        {
            NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::Nanoseconds, ps), text, ps << " ps");
        }
        NS_TEST_ASSERT_MSG_EQ(Write(&JsonWriter::Uint, std::numeric_limits<uint64_t>::max()),
                              "18446744073709551615",
                              "the largest whole number");
    }
};

const UnitTestSuite<JsonWriterTest> g_jsonWriterTests(
    "json-writer",
    {
        {"objects and arrays nest", &JsonWriterTest::Nests},
        {"text and keys are quoted", &JsonWriterTest::Quotes},
        {"doubles read back to themselves", &JsonWriterTest::DoublesReadBack},
        {"nanoseconds have every picosecond and no zeros behind",
         &JsonWriterTest::NanosecondsAreExact},
    });

} // namespace

} // namespace cosim
