/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "attribute-columns.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace cosim
{

namespace
{

// Fields of the message AttributeProto of mlcommons/chakra, schema/protobuf/et_def.proto.
constexpr uint32_t NAME = 1;
constexpr uint32_t DOUBLE = 3;
constexpr uint32_t FLOAT = 5;
constexpr uint32_t INT32 = 7;
constexpr uint32_t INT64 = 9;
constexpr uint32_t UINT32 = 11;
constexpr uint32_t UINT64 = 13;
constexpr uint32_t SINT32 = 15;
constexpr uint32_t SINT64 = 17;
constexpr uint32_t FIXED32 = 19;
constexpr uint32_t FIXED64 = 21;
constexpr uint32_t SFIXED32 = 23;
constexpr uint32_t SFIXED64 = 25;
constexpr uint32_t BOOL = 27;
constexpr uint32_t BOOL_LIST = 28;
constexpr uint32_t STRING = 29;

constexpr uint64_t SIGN = uint64_t{1} << 63;

/// @return a number of at least 0; nothing if the number is negative
std::optional<uint64_t>
Unsigned(uint64_t twosComplement)
{
    return twosComplement < SIGN ? std::optional(twosComplement) : std::nullopt;
}

/// @return a number without a fraction; nothing for other numbers
std::optional<uint64_t>
Whole(double value)
{
    constexpr double TOO_LARGE = 0x1p63;
    if (!(value >= 0) || value >= TOO_LARGE || std::floor(value) != value)
    {
        return std::nullopt;
    }
    return static_cast<uint64_t>(value);
}

/// @return the number that a text writes; nothing for other texts
std::optional<uint64_t>
Parsed(const std::string& text)
{
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool isNumber = error == std::errc{} && stop == end && value < SIGN;
    return isNumber ? std::optional(value) : std::nullopt;
}

/// @return 1 if a message of type BoolList contains only true, otherwise 0
uint64_t
AreAllTrue(WireReader list)
{
    std::vector<uint64_t> values;
    while (list.NextField())
    {
        if (list.GetField() == 1)
        {
            list.AppendTo(values);
        }
        else
        {
            list.Skip();
        }
    }
    for (const uint64_t value : values)
    {
        if (value == 0)
        {
            return 0;
        }
    }
    return 1;
}

/// @return the current field of a message AttributeProto as a number; nothing if it is none
std::optional<uint64_t>
ReadNumber(WireReader& field)
{
    switch (field.GetField())
    {
    case INT32:
    case INT64:
        return Unsigned(field.ReadUint64());
    case UINT32:
    case UINT64:
    case BOOL:
        return Unsigned(field.ReadUint64());
    case SINT32:
    case SINT64: {
        const uint64_t zigzag = field.ReadUint64();
        return (zigzag & 1) == 0 ? std::optional(zigzag >> 1) : std::nullopt;
    }
    case FIXED32:
    case FIXED64:
    case SFIXED64:
        return Unsigned(field.ReadFixed());
    case SFIXED32: {
        const auto value = static_cast<int32_t>(field.ReadFixed());
        return value >= 0 ? std::optional(static_cast<uint64_t>(value)) : std::nullopt;
    }
    case DOUBLE:
        return Whole(std::bit_cast<double>(field.ReadFixed()));
    case FLOAT:
        return Whole(std::bit_cast<float>(static_cast<uint32_t>(field.ReadFixed())));
    case STRING:
        return Parsed(field.ReadString());
    case BOOL_LIST:
        return AreAllTrue(field.ReadMessage());
    default:
        field.Skip();
        return std::nullopt;
    }
}

} // namespace

AttributeColumns::AttributeColumns(const std::vector<std::string>& numbers,
                                   const std::vector<std::string>& texts)
    : m_numbers(numbers.size()),
      m_texts(texts.size())
{
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
        m_numberOf[numbers[i]] = i;
    }
    for (std::size_t i = 0; i < texts.size(); ++i)
    {
        m_textOf[texts[i]] = i;
    }
}

void
AttributeColumns::AddNode()
{
    for (NumberColumn& column : m_numbers)
    {
        column.values.push_back(0);
        column.presence.push_back(Presence::ABSENT);
    }
    for (TextColumn& column : m_texts)
    {
        column.push_back(-1);
    }
}

void
AttributeColumns::Read(WireReader attribute)
{
    WireReader value = attribute; // the name decides how to read the value, wherever it stands
    const std::string name = attribute.FindString(NAME);
    if (const auto number = m_numberOf.find(name); number != m_numberOf.end())
    {
        SetNumber(m_numbers[number->second], value);
    }
    else if (const auto text = m_textOf.find(name); text != m_textOf.end())
    {
        SetText(m_texts[text->second], value);
    }
}

void
AttributeColumns::SetNumber(NumberColumn& column, WireReader value)
{
    column.presence.back() = Presence::UNUSABLE;
    while (value.NextField())
    {
        if (value.GetField() < DOUBLE)
        {
            value.Skip();
            continue;
        }
        const std::optional<uint64_t> number = ReadNumber(value);
        column.presence.back() = number ? Presence::PRESENT : Presence::UNUSABLE;
        column.values.back() = number.value_or(0);
    }
}

void
AttributeColumns::SetText(TextColumn& column, WireReader value)
{
    while (value.NextField())
    {
        if (value.GetField() < DOUBLE)
        {
            value.Skip();
        }
        else if (value.GetField() == STRING)
        {
            column.back() = GetIndex(value.ReadString());
        }
        else if (const std::optional<uint64_t> number = ReadNumber(value))
        {
            column.back() = GetIndex(std::to_string(*number));
        }
    }
}

int32_t
AttributeColumns::GetIndex(const std::string& text)
{
    const auto [place, isNew] = m_indexOf.try_emplace(text, static_cast<int32_t>(m_table.size()));
    if (isNew)
    {
        m_table.push_back(text);
    }
    return place->second;
}

} // namespace cosim
