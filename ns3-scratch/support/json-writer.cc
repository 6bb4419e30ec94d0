/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/json-writer.h"

#include <charconv>
#include <cmath>

namespace cosim
{

void
JsonWriter::BeginObject()
{
    Separate();
    m_text += '{';
    m_comma = false;
}

void
JsonWriter::EndObject()
{
    m_text += '}';
    m_comma = true;
}

void
JsonWriter::BeginArray()
{
    Separate();
    m_text += '[';
    m_comma = false;
}

void
JsonWriter::EndArray()
{
    m_text += ']';
    m_comma = true;
}

JsonWriter&
JsonWriter::Key(std::string_view key)
{
    Separate();
    Quote(key);
    m_text += ':';
    m_comma = false;
    return *this;
}

void
JsonWriter::String(std::string_view value)
{
    Separate();
    Quote(value);
}

void
JsonWriter::Bool(bool value)
{
    Separate();
    m_text += value ? "true" : "false";
}

void
JsonWriter::Uint(uint64_t value)
{
    Separate();
    m_text += std::to_string(value);
}

void
JsonWriter::Double(double value)
{
    Separate();
    if (!std::isfinite(value))
    {
        m_text += "null";
        return;
    }
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    m_text.append(digits, end);
}

void
JsonWriter::Nanoseconds(uint64_t ps)
{
    Separate();
    m_text += std::to_string(ps / 1000);
    std::string fraction = std::to_string(1000 + ps % 1000); // adding 1000 keeps leading zeros
    fraction.front() = '.';
    fraction.resize(fraction.find_last_not_of("0") + 1);
    if (fraction.size() > 1)
    {
        m_text += fraction;
    }
}

const std::string&
JsonWriter::GetText() const
{
    return m_text;
}

void
JsonWriter::Separate()
{
    if (m_comma)
    {
        m_text += ',';
    }
    m_comma = true;
}

void
JsonWriter::Quote(std::string_view value)
{
    static constexpr char hex[] = "0123456789abcdef";
    m_text += '"';
    for (const char c : value)
    {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
        {
            m_text += '\\';
            m_text += c;
        }
        else if (code < 0x20)
        {
            m_text += "\\u00";
            m_text += hex[code >> 4];
            m_text += hex[code & 15];
        }
        else
        {
            m_text += c;
        }
    }
    m_text += '"';
}

} // namespace cosim
