/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "stream/wire-reader.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr uint8_t MORE = 0x80; //!< set in every byte of a varint except the last

/**
 * @return true if the bytes are valid UTF-8: no overlong forms, no surrogates, nothing above
 * U+10FFFF
 */
bool
IsUtf8(const uint8_t* p, const uint8_t* end)
{
    while (p != end)
    {
        const uint8_t lead = *p++;
        if (lead < 0x80)
        {
            continue;
        }
        const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || end - p < more)
        {
            return false;
        }
        const uint8_t least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const uint8_t most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (*p < least || *p > most)
        {
            return false;
        }
        for (int i = 1; i < more; ++i)
        {
            if ((p[i] & 0xc0) != 0x80)
            {
                return false;
            }
        }
        p += more;
    }
    return true;
}

} // namespace

WireReader::WireReader(const uint8_t* begin, const uint8_t* end, const uint8_t* origin)
    : m_next(begin),
      m_end(end),
      m_origin(origin)
{
}

bool
WireReader::IsAtEnd() const
{
    return m_next == m_end;
}

bool
WireReader::NextField()
{
    if (m_next == m_end)
    {
        return false;
    }
    const uint64_t key = ReadVarint();
    m_wireType = static_cast<uint32_t>(key & 7);
    m_field = static_cast<uint32_t>(key >> 3);
    if (key >> 32 != 0 || m_field == 0)
    {
        Refuse("the number of a field is not valid in protobuf");
    }
    return true;
}

uint32_t
WireReader::GetField() const
{
    return m_field;
}

uint32_t
WireReader::GetWireType() const
{
    return m_wireType;
}

uint64_t
WireReader::ReadVarint()
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7)
    {
        if (m_next == m_end)
        {
            Refuse("it ends inside a number");
        }
        const uint8_t byte = *m_next++;
        if (shift == 63 && byte > 1)
        {
            break;
        }
        value |= static_cast<uint64_t>(byte & 0x7f) << shift;
        if (byte < MORE)
        {
            return value;
        }
    }
    Refuse("a number has more than 64 bits");
}

uint32_t
WireReader::ReadUint32()
{
    const uint64_t value = ReadUint64();
    if (value > std::numeric_limits<uint32_t>::max())
    {
        Refuse("field " + std::to_string(m_field) + " has more than 32 bits");
    }
    return static_cast<uint32_t>(value);
}

uint64_t
WireReader::ReadUint64()
{
    Expect(VARINT);
    return ReadVarint();
}

uint64_t
WireReader::ReadFixed()
{
    const uint64_t size = m_wireType == FIXED32 ? 4 : 8;
    if (m_wireType != FIXED32)
    {
        Expect(FIXED64);
    }
    const WireReader slice = ReadSlice(size);
    uint64_t value = 0;
    for (uint64_t i = 0; i < size; ++i)
    {
        value |= static_cast<uint64_t>(slice.m_next[i]) << (8 * i);
    }
    return value;
}

bool
WireReader::ReadBool()
{
    return ReadUint64() != 0;
}

std::string
WireReader::ReadString()
{
    const WireReader text = ReadMessage();
    if (!IsUtf8(text.m_next, text.m_end))
    {
        Refuse("the text of field " + std::to_string(m_field) + " is not UTF-8");
    }
    if (std::find(text.m_next, text.m_end, 0) != text.m_end)
    { // A NUL would cut off the text where an error message shows it.
        Refuse("the text of field " + std::to_string(m_field) + " contains a NUL byte");
    }
    return {text.m_next, text.m_end};
}

WireReader
WireReader::ReadMessage()
{
    Expect(LENGTH_DELIMITED);
    return ReadSlice(ReadVarint());
}

WireReader
WireReader::ReadSlice(uint64_t length)
{
    if (length > static_cast<uint64_t>(m_end - m_next))
    {
        const uint64_t missing = length - static_cast<uint64_t>(m_end - m_next);
        Refuse("it is cut off, " + std::to_string(missing) + " bytes are missing");
    }
    const uint8_t* begin = m_next;
    m_next += length;
    return {begin, m_next, m_origin};
}

void
WireReader::AppendTo(std::vector<uint32_t>& values)
{
    AppendNumbers(values);
}

void
WireReader::AppendTo(std::vector<uint64_t>& values)
{
    AppendNumbers(values);
}

void
WireReader::AppendTo(std::vector<std::string>& values)
{
    values.push_back(ReadString());
}

std::string
WireReader::FindString(uint32_t field)
{
    std::string found;
    while (NextField())
    {
        if (m_field == field)
        {
            found = ReadString();
        }
        else
        {
            Skip();
        }
    }
    return found;
}

void
WireReader::Skip()
{
    switch (m_wireType)
    {
    case VARINT:
        ReadVarint();
        break;
    case FIXED64:
        ReadSlice(8);
        break;
    case LENGTH_DELIMITED:
        ReadSlice(ReadVarint());
        break;
    case FIXED32:
        ReadSlice(4);
        break;
    default:
        Expect(LENGTH_DELIMITED);
    }
}

template <typename T>
void
WireReader::AppendNumbers(std::vector<T>& values)
{
    if (m_wireType == VARINT)
    {
        const uint64_t value = ReadVarint();
        if (value > std::numeric_limits<T>::max())
        {
            Refuse("field " + std::to_string(m_field) + " has more than 32 bits");
        }
        values.push_back(static_cast<T>(value));
        return;
    }
    WireReader packed = ReadMessage();
    const uint8_t* next = packed.m_next;
    const uint8_t* const end = packed.m_end;
    if (next != end && end[-1] >= MORE)
    {
        packed.m_next = end;
        packed.Refuse("it ends inside a number");
    }
    // Every number has exactly one byte without the MORE bit, so this counts the numbers.
    const auto count = std::count_if(next, end, [](uint8_t byte) { return byte < MORE; });
    const std::size_t old = values.size();
    values.resize(old + static_cast<std::size_t>(count));
    T* out = values.data() + old;
    while (next != end)
    {
        uint64_t value = *next++;
        if (value >= MORE)
        {
            value &= 0x7f;
            int shift = 7;
            uint8_t byte = MORE;
            // the last byte of the slice has no MORE bit, so the loop ends there at the latest
            while (byte >= MORE)
            {
                byte = *next++;
                if (shift > 63 || (shift == 63 && byte > 1))
                {
                    packed.m_next = next;
                    packed.Refuse("a number has more than 64 bits");
                }
                value |= static_cast<uint64_t>(byte & 0x7f) << shift;
                shift += 7;
            }
            if (value > std::numeric_limits<T>::max())
            {
                packed.m_next = next;
                packed.Refuse("field " + std::to_string(m_field) + " has more than 32 bits");
            }
        }
        *out++ = static_cast<T>(value);
    }
}

void
WireReader::Expect(uint32_t wireType) const
{
    if (m_wireType != wireType)
    {
        Refuse("field " + std::to_string(m_field) + " has wire type " + std::to_string(m_wireType) +
               ", but wire type " + std::to_string(wireType) + " is expected");
    }
}

void
WireReader::Refuse(const std::string& what) const
{
    throw std::invalid_argument("the stream is corrupt at byte " +
                                std::to_string(m_next - m_origin) + ": " + what);
}

} // namespace cosim
