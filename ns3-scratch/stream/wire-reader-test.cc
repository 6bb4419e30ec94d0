/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/wire-reader.h"
#include "stream/wire-writer.h"
#include "support/unit-test.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace cosim
{

namespace
{

constexpr uint64_t MAX = std::numeric_limits<uint64_t>::max();

/// A message in a buffer of exactly its size, so that a read past its end is detected.
class Message
{
  public:
    /// @param bytes the bytes of the message
    explicit Message(const std::string& bytes)
        : m_bytes(bytes.begin(), bytes.end())
    {
        m_bytes.shrink_to_fit();
    }

    /// @return a reader at the first byte of the message
    WireReader Read() const
    {
        return {m_bytes.data(), m_bytes.data() + m_bytes.size(), m_bytes.data()};
    }

    /// @return a reader after the key of the first field
    WireReader ReadField() const
    {
        WireReader reader = Read();
        reader.NextField();
        return reader;
    }

  private:
    std::vector<uint8_t> m_bytes;
};

class WireReaderTest : public UnitTest<WireReaderTest>
{
  public:
    using UnitTest::UnitTest;

    void ReadsEveryType()
    {
        const Message message(WireWriter()
                                  .Number(1, 0)
                                  .Number(2, MAX)
                                  .Number(3, std::numeric_limits<uint32_t>::max())
                                  .Number(4, 1)
                                  .Bytes(5, "µs")
                                  .Bytes(16, WireWriter().Number(1, 300).GetBytes())
                                  .Packed(17, {1, 128, 16384})
                                  .Number(17, 7)
                                  .Number((1U << 29) - 1, 9)
                                  .GetBytes());
        WireReader reader = message.Read();
        NS_TEST_ASSERT_MSG_EQ(reader.NextField() && reader.GetField() == 1, true, "field 1");
        NS_TEST_ASSERT_MSG_EQ(reader.ReadUint64(), 0, "the smallest number");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField() && reader.GetField() == 2, true, "field 2");
        NS_TEST_ASSERT_MSG_EQ(reader.ReadUint64(), MAX, "the largest number");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField() && reader.GetField() == 3, true, "field 3");
        NS_TEST_ASSERT_MSG_EQ(reader.ReadUint32(), 4294967295, "the largest of 32 bits");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField() && reader.ReadBool(), true, "field 4");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "field 5");
        NS_TEST_ASSERT_MSG_EQ(reader.ReadString(), "µs", "text");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField() && reader.GetField() == 16, true, "two-byte key");
        WireReader inner = reader.ReadMessage();
        NS_TEST_ASSERT_MSG_EQ(inner.NextField() && inner.GetField() == 1, true, "the inner field");
        NS_TEST_ASSERT_MSG_EQ(inner.ReadUint32(), 300, "its value");
        NS_TEST_ASSERT_MSG_EQ(inner.NextField(), false, "the inner message ends where it ends");
        std::vector<uint32_t> numbers;
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "packed");
        reader.AppendTo(numbers);
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "unpacked");
        reader.AppendTo(numbers);
        NS_TEST_ASSERT_MSG_EQ(Join(numbers), "1 128 16384 7", "numbers of one field");
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "the largest field");
        NS_TEST_ASSERT_MSG_EQ(reader.GetField(), 536870911, "its number");
        reader.Skip();
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), false, "the end");
        NS_TEST_ASSERT_MSG_EQ(reader.IsAtEnd(), true, "the end");
    }

    void ReadsVarintsOfEveryLength()
    {
        for (int bits = 0; bits < 64; ++bits)
        {
            for (const uint64_t number : {(uint64_t{1} << bits) - 1, uint64_t{1} << bits})
            {
                const Message bare(WireWriter().Varint(number).GetBytes());
                WireReader reader = bare.Read();
                NS_TEST_ASSERT_MSG_EQ(reader.ReadVarint(), number, "bare");
                NS_TEST_ASSERT_MSG_EQ(reader.IsAtEnd(), true, "and no byte more");
                std::vector<uint64_t> numbers;
                Message(WireWriter().Packed(1, {1, number, 2}).GetBytes())
                    .ReadField()
                    .AppendTo(numbers);
                NS_TEST_ASSERT_MSG_EQ(Join(numbers),
                                      "1 " + std::to_string(number) + " 2",
                                      "packed");
            }
        }
        // a valid form that no writer produces
        const Message padded(std::string("\x85\x80\x80\x80\x00", 5));
        NS_TEST_ASSERT_MSG_EQ(padded.Read().ReadVarint(), 5, "zeros in front count nothing");
    }

    void RefusesMalformedVarints()
    {
        const std::vector<std::pair<std::string, std::string>> cases{
            {"", "byte 0: it ends inside a number"},
            {"\x80", "byte 1: it ends inside a number"},
            {std::string(9, '\xff'), "byte 9: it ends inside a number"},
            {std::string(9, '\xff') + "\x02", "byte 10: a number has more than 64 bits"},
            {std::string(10, '\x80') + "\x01", "byte 10: a number has more than 64 bits"},
        };
        for (const auto& [bytes, text] : cases)
        {
            const std::string refusal = GetRefusal([&] { Message(bytes).Read().ReadVarint(); });
            NS_TEST_ASSERT_MSG_EQ(refusal, "the stream is corrupt at " + text, "a bare number");
            if (bytes.empty())
            { // an empty list of numbers is valid
                continue;
            }
            std::vector<uint64_t> numbers;
            const Message packed(WireWriter().Bytes(1, bytes).GetBytes());
            const std::string what = text.substr(text.find(": "));
            NS_TEST_ASSERT_MSG_EQ(
                GetRefusal([&] { packed.ReadField().AppendTo(numbers); }).ends_with(what),
                true,
                "the same number, packed: " << what);
        }
    }

    void RefusesNumbersOfMoreThan32Bits()
    {
        const uint64_t large = uint64_t{1} << 32;
        const std::string text = "field 3 has more than 32 bits";
        const Message single(WireWriter().Number(3, large).GetBytes());
        const Message packed(WireWriter().Packed(3, {1, large, 2}).GetBytes());
        std::vector<uint32_t> numbers;
        for (const std::string& refusal :
             {GetRefusal([&] { single.ReadField().ReadUint32(); }),
              GetRefusal([&] { single.ReadField().AppendTo(numbers); }),
              GetRefusal([&] { packed.ReadField().AppendTo(numbers); })})
        {
            NS_TEST_ASSERT_MSG_EQ(refusal.ends_with(text), true, refusal);
        }
    }

    void RefusesBadKeys()
    {
        for (const uint64_t key : {uint64_t{0}, uint64_t{5}, uint64_t{1} << 32, MAX})
        { // field number 0 in two forms, and field numbers of more than 29 bits
            const Message message(WireWriter().Varint(key).Raw("12345678").GetBytes());
            NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] {
                                      message.ReadField();
                                  }).ends_with("the number of a field is not valid in protobuf"),
                                  true,
                                  "key " << key);
        }
    }

    void RefusesOtherWireTypes()
    {
        for (const uint32_t type : {1, 2, 5})
        {
            const Message message(WireWriter().Key(4, type).Raw(std::string(9, 0)).GetBytes());
            NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { message.ReadField().ReadUint64(); }),
                                  "the stream is corrupt at byte 1: field 4 has wire type " +
                                      std::to_string(type) + ", but wire type 0 is expected",
                                  "for a number");
        }
        for (const uint32_t type : {0, 1, 5})
        {
            const Message message(WireWriter().Key(4, type).Raw(std::string(9, 0)).GetBytes());
            NS_TEST_ASSERT_MSG_NE(GetRefusal([&] { message.ReadField().ReadString(); }),
                                  "",
                                  "text of wire type " << type);
            NS_TEST_ASSERT_MSG_NE(GetRefusal([&] { message.ReadField().ReadMessage(); }),
                                  "",
                                  "a message of wire type " << type);
        }
        for (const uint32_t type : {3, 4, 6, 7})
        { // groups, which proto3 does not have, and wire types that do not exist
            const Message message(WireWriter().Key(4, type).Raw(std::string(9, 0)).GetBytes());
            NS_TEST_ASSERT_MSG_NE(GetRefusal([&] { message.ReadField().Skip(); }),
                                  "",
                                  "an unknown field of wire type " << type);
        }
    }

    void SkipsUnknownFields()
    {
        const Message message(WireWriter()
                                  .Number(100, MAX)
                                  .Key(101, 1)
                                  .Raw("8 bytes.")
                                  .Bytes(102, "text")
                                  .Key(103, 5)
                                  .Raw("4 by")
                                  .Bytes(104, "")
                                  .Number(1, 42)
                                  .GetBytes());
        WireReader reader = message.Read();
        for (uint32_t field = 100; field < 105; ++field)
        {
            NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "field " << field);
            NS_TEST_ASSERT_MSG_EQ(reader.GetField(), field, "each is left behind as a whole");
            reader.Skip();
        }
        NS_TEST_ASSERT_MSG_EQ(reader.NextField(), true, "what follows them");
        NS_TEST_ASSERT_MSG_EQ(reader.ReadUint32(), 42, "what follows them");
    }

    void RefusesWhatIsCutOff()
    {
        const std::string inner = WireWriter().Number(1, 300).Packed(2, {1, 300}).GetBytes();
        const std::string whole = WireWriter()
                                      .Number(300, 300)
                                      .Key(301, 1)
                                      .Raw("8 bytes.")
                                      .Key(302, 5)
                                      .Raw("4 by")
                                      .Bytes(303, inner)
                                      .GetBytes();
        // The message may end after a field. Every key has two bytes.
        const std::vector<std::size_t> ends{0, 4, 14, 20, whole.size()};
        for (std::size_t size = 0; size <= whole.size(); ++size)
        {
            const Message message(whole.substr(0, size));
            const bool isWhole = std::find(ends.begin(), ends.end(), size) != ends.end();
            const std::string refusal = GetRefusal([&] {
                WireReader reader = message.Read();
                while (reader.NextField())
                {
                    reader.Skip();
                }
            });
            NS_TEST_ASSERT_MSG_EQ(refusal.empty(), isWhole, "the first " << size << " bytes");
        }
        const Message huge(WireWriter().Key(1, 2).Varint(MAX).Raw("abc").GetBytes());
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] { huge.ReadField().ReadString(); }),
                              "the stream is corrupt at byte 11: it is cut off, " +
                                  std::to_string(MAX - 3) + " bytes are missing",
                              "a length that would wrap around");
    }

    void TellsTextFromOtherBytes()
    {
        const std::vector<std::string> texts{
            "",
            "~",
            "\xc2\x80",
            "\xdf\xbf",
            "\xe0\xa0\x80",
            "\xed\x9f\xbf",
            "\xee\x80\x80",
            "\xf0\x90\x80\x80",
            "\xf4\x8f\xbf\xbf",
        };
        for (const std::string& text : texts)
        { // the first and the last character of every length
            const Message message(WireWriter().Bytes(1, text).GetBytes());
            NS_TEST_ASSERT_MSG_EQ(message.ReadField().ReadString(), text, "is UTF-8");
        }
        const std::vector<std::string> others{
            "\x80",             // a continuation byte
            "\xc1\xbf",         // '\x7f', overlong
            "\xc3",             // cut off
            "\xc3(",            // no continuation byte follows
            "\xe0\x9f\xbf",     // overlong
            "\xe2\x82",         // cut off
            "\xe2\x82(",        // no continuation byte follows
            "\xed\xa0\x80",     // a surrogate
            "\xf0\x8f\xbf\xbf", // overlong
            "\xf4\x90\x80\x80", // above U+10FFFF
            "\xf5\x80\x80\x80", // above U+10FFFF
        };
        for (const std::string& other : others)
        {
            const Message message(WireWriter().Bytes(1, other).GetBytes());
            NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] {
                                      message.ReadField().ReadString();
                                  }).ends_with("the text of field 1 is not UTF-8"),
                                  true,
                                  "is not UTF-8");
        }
        const Message nul(WireWriter().Bytes(1, std::string("a\0b", 3)).GetBytes());
        NS_TEST_ASSERT_MSG_EQ(GetRefusal([&] {
                                  nul.ReadField().ReadString();
                              }).ends_with("the text of field 1 contains a NUL byte"),
                              true,
                              "a NUL");
    }
};

const UnitTestSuite<WireReaderTest> g_wireReaderTests(
    "wire-reader",
    {
        {"every type is read", &WireReaderTest::ReadsEveryType},
        {"numbers of every length are read", &WireReaderTest::ReadsVarintsOfEveryLength},
        {"malformed numbers are refused", &WireReaderTest::RefusesMalformedVarints},
        {"numbers that are too large are refused", &WireReaderTest::RefusesNumbersOfMoreThan32Bits},
        {"keys that are none are refused", &WireReaderTest::RefusesBadKeys},
        {"a field of another type is refused", &WireReaderTest::RefusesOtherWireTypes},
        {"unknown fields are skipped", &WireReaderTest::SkipsUnknownFields},
        {"a message that is cut off anywhere is refused", &WireReaderTest::RefusesWhatIsCutOff},
        {"text is UTF-8 without NUL", &WireReaderTest::TellsTextFromOtherBytes},
    });

} // namespace

} // namespace cosim
