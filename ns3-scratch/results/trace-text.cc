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

/// Make room for a number of characters. Many small texts follow, so checks must be cheap.
inline char*
TraceText::Reserve(std::size_t size)
{
    if (m_text.size() - m_size < size)
    {
        m_text.resize(m_size + size);
    }
    return m_text.data() + m_size;
}

/// Append a text.
inline void
TraceText::Append(std::string_view text)
{
    std::memcpy(Reserve(text.size()), text.data(), text.size());
    m_size += text.size();
}

/// Append an integer.
inline void
TraceText::Number(uint64_t value)
{
    constexpr std::size_t digits = 20;
    char* begin = Reserve(digits);
    m_size += static_cast<std::size_t>(std::to_chars(begin, begin + digits, value).ptr - begin);
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
    std::memcpy(Reserve(fraction.size()), fraction.data(), fraction.size());
    m_size += size;
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
    if (!std::exchange(m_isFirst, false))
    {
        Append(",\n");
    }
    Append("{\"ph\":\"");
    Append({&type, 1});
    Append("\",\"pid\":");
    Number(process);
    Append(",\"tid\":");
    Number(thread);
    if (timePs != m_timePs || m_timeSize == 0)
    {
        const std::size_t begin = m_size;
        Append(",\"ts\":");
        Time(timePs);
        m_timePs = timePs;
        m_timeSize = m_size - begin;
        std::memcpy(m_time.data(), m_text.data() + begin, m_timeSize);
    }
    else
    { // many events happen at the same time
        std::memcpy(Reserve(m_time.size()), m_time.data(), m_time.size());
        m_size += m_timeSize;
    }
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
TraceText::Message(uint64_t id)
{
    Append(",\"name\":\"message\",\"cat\":\"m\",\"id\":");
    Number(id);
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
