/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/trace-text.h"

#include "support/json-writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
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
      m_text(BLOCK_BYTES + 4096)
{
    Append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
}

/// Append a text. Many small ones are appended, so a string with its checks would be too slow.
inline void
TraceText::Append(std::string_view text)
{
    if (m_text.size() - m_size < text.size())
    {
        m_text.resize(m_size + text.size());
    }
    std::memcpy(m_text.data() + m_size, text.data(), text.size());
    m_size += text.size();
}

/// Append an integer.
inline void
TraceText::Number(uint64_t value)
{
    std::array<char, 20> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    Append({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

/// Append a time in microseconds.
inline void
TraceText::Time(uint64_t ps)
{
    constexpr uint64_t psPerUs = 1'000'000;
    Number(ps / psPerUs);
    uint64_t rest = ps % psPerUs;
    if (rest == 0)
    {
        return;
    }
    std::array<char, 7> fraction{'.'};
    for (std::size_t i = 6; i > 0; --i)
    {
        fraction[i] = static_cast<char>('0' + rest % 10);
        rest /= 10;
    }
    std::size_t size = fraction.size();
    while (fraction[size - 1] == '0')
    {
        --size;
    }
    Append({fraction.data(), size});
}

/// Append the name of a key.
inline void
TraceText::Key(std::string_view key)
{
    Append(m_needsComma ? ",\"" : "\"");
    Append(key);
    Append("\":");
    m_needsComma = true;
}

TraceText&
TraceText::Begin(char type, uint32_t process, uint32_t thread, uint64_t timePs)
{
    Append(m_isFirst ? "{\"ph\":\"" : ",\n{\"ph\":\"");
    m_isFirst = false;
    Append({&type, 1});
    Append("\",\"pid\":");
    Number(process);
    Append(",\"tid\":");
    Number(thread);
    Append(",\"ts\":");
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
    Key(key);
    const bool isPlain = std::none_of(value.begin(), value.end(), [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ';
    });
    if (isPlain)
    { // most texts are, and there are many
        Append("\"");
        Append(value);
        Append("\"");
        return *this;
    }
    JsonWriter quoted;
    quoted.String(value);
    Append(quoted.GetText());
    return *this;
}

TraceText&
TraceText::Uint(std::string_view key, uint64_t value)
{
    Key(key);
    Number(value);
    return *this;
}

TraceText&
TraceText::Microseconds(std::string_view key, uint64_t ps)
{
    Key(key);
    Time(ps);
    return *this;
}

TraceText&
TraceText::Arguments()
{
    Key("args");
    Append("{");
    m_needsComma = false;
    m_inArguments = true;
    return *this;
}

void
TraceText::End()
{
    Append(std::exchange(m_inArguments, false) ? "}}" : "}");
    if (m_size >= BLOCK_BYTES)
    {
        Flush();
    }
}

void
TraceText::Finish(const std::string& otherData)
{
    Append("\n],\"otherData\":");
    Append(otherData);
    Append("}\n");
    Flush();
}

void
TraceText::Flush()
{
    m_isFull = m_sink({m_text.data(), m_size}) >= m_limitBytes;
    m_size = 0;
}

} // namespace cosim
