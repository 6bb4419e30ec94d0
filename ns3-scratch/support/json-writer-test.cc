/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/json-writer.h"
#include "support/unit-test.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace cosim
{

/// A struct that is written by its fields.
struct WrittenStruct
{
    std::string text;
    uint64_t timePs{0};
    std::optional<uint32_t> number;
    std::vector<WrittenStruct> parts;
};

template <>
inline constexpr auto FIELDS<WrittenStruct> = std::make_tuple(
    Field{"text", &WrittenStruct::text},
    Field{"time_ns", &WrittenStruct::timePs},
    Field{"number", &WrittenStruct::number},
    Field{"share", [](const WrittenStruct& written) { return written.parts.empty() ? 1 : 0.5; }},
    Field{"parts", &WrittenStruct::parts});

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

    void WritesFields()
    {
        JsonWriter json;
        json.Object(Named{"all", WrittenStruct{"a", 1500, {}, {{"b", 0, 7, {}}}}},
                    Named{"absent", std::optional<bool>()},
                    Named{"is_there", true},
                    Named{"wait_ns", 0.25},
                    Named{"ranks", std::vector<std::vector<uint32_t>>{{1}, {}}});
        NS_TEST_ASSERT_MSG_EQ(json.GetText(),
                              R"({"all":{"text":"a","time_ns":1.5,"share":0.5,"parts":[)"
                              R"({"text":"b","time_ns":0,"number":7,"share":1,"parts":[]}]},)"
                              R"("is_there":true,"wait_ns":0.25,"ranks":[[1],[]]})",
                              "the type and the unit decide; an empty optional is left out");
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
        {"structs are written by their fields", &JsonWriterTest::WritesFields},
        {"text and keys are quoted", &JsonWriterTest::Quotes},
        {"doubles read back to themselves", &JsonWriterTest::DoublesReadBack},
        {"nanoseconds have every picosecond and no zeros behind",
         &JsonWriterTest::NanosecondsAreExact},
    });

} // namespace

} // namespace cosim
