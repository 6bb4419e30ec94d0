/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/trace-text.h"

#include "support/json-writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace cosim
{

namespace
{

/// Size of the text from which it goes to the sink [bytes].
constexpr std::size_t BLOCK_BYTES = 64 * 1024;

} // namespace

TraceText::TraceText(TextSink sink, uint64_t limitBytes)
    : m_sink(std::move(sink)),
      // A compressor may still hold a block, and begun events must end.
      m_limitBytes(limitBytes - limitBytes / 8),
      m_text("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
{
    m_text.reserve(BLOCK_BYTES + 4096);
}

TraceText&
TraceText::Begin(char type, uint32_t process, uint32_t thread, uint64_t timePs)
{
    m_text += m_isFirst ? "{\"ph\":\"" : ",\n{\"ph\":\"";
    m_isFirst = false;
    m_text += type;
    m_text += "\",\"pid\":";
    Number(process);
    m_text += ",\"tid\":";
    Number(thread);
    m_text += ",\"ts\":";
    Time(timePs);
    m_needsComma = true;
    return *this;
}

TraceText&
TraceText::BeginMeta(uint32_t process, uint32_t thread, std::string_view what)
{
    return Begin('M', process, thread, 0).Text("name", what).Arguments();
}

TraceText&
TraceText::Text(std::string_view key, std::string_view value)
{
    Quote(key);
    const bool isPlain = std::none_of(value.begin(), value.end(), [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ';
    });
    if (isPlain)
    { // most texts are, and there are many
        m_text += '"';
        m_text += value;
        m_text += '"';
        return *this;
    }
    JsonWriter quoted;
    quoted.String(value);
    m_text += quoted.GetText();
    return *this;
}

TraceText&
TraceText::Uint(std::string_view key, uint64_t value)
{
    Quote(key);
    Number(value);
    return *this;
}

TraceText&
TraceText::Microseconds(std::string_view key, uint64_t ps)
{
    Quote(key);
    Time(ps);
    return *this;
}

TraceText&
TraceText::Arguments()
{
    Quote("args");
    m_text += '{';
    m_needsComma = false;
    m_inArguments = true;
    return *this;
}

void
TraceText::End()
{
    m_text += std::exchange(m_inArguments, false) ? "}}" : "}";
    if (m_text.size() >= BLOCK_BYTES)
    {
        Flush();
    }
}

void
TraceText::Finish(const std::string& otherData)
{
    m_text += "\n],\"otherData\":";
    m_text += otherData;
    m_text += "}\n";
    Flush();
}

/// Write a key, which needs no escapes.
void
TraceText::Quote(std::string_view text)
{
    m_text += m_needsComma ? ",\"" : "\"";
    m_text += text;
    m_text += "\":";
    m_needsComma = true;
}

void
TraceText::Number(uint64_t value)
{
    std::array<char, 24> digits;
    m_text.append(digits.data(),
                  std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// Write a time in microseconds.
void
TraceText::Time(uint64_t ps)
{
    constexpr uint64_t psPerUs = 1'000'000;
    Number(ps / psPerUs);
    uint64_t rest = ps % psPerUs;
    if (rest == 0)
    {
        return;
    }
    m_text += '.';
    for (uint64_t digit = psPerUs / 10; rest > 0; digit /= 10)
    {
        m_text += static_cast<char>('0' + rest / digit);
        rest %= digit;
    }
}

void
TraceText::Flush()
{
    m_isFull = m_sink(m_text) >= m_limitBytes;
    m_text.clear();
}

} // namespace cosim
