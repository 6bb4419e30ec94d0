/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "results/trace-text.h"

#include "support/json-writer.h"

#include <algorithm>
#include <utility>

namespace cosim
{

namespace
{

/// Largest size of the text from which it goes to the sink [bytes].
constexpr uint64_t BLOCK_BYTES = 64 * 1024;

/// What the end of a begun slice takes at most in the file, which is compressed [bytes].
constexpr uint64_t END_BYTES = 16;

} // namespace

TraceText::TraceText(TextSink sink, uint64_t limitBytes)
    : m_sink(std::move(sink)),
      m_limitBytes(limitBytes),
      m_blockBytes(std::clamp<uint64_t>(limitBytes, TraceEvent::ROOM_BYTES, BLOCK_BYTES)),
      m_text(m_blockBytes + 2 * TraceEvent::ROOM_BYTES)
{
    Append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":");
}

void
TraceText::Append(std::string_view text)
{
    char* at = Reserve(m_text.data() + m_size, text.size());
    std::copy(text.begin(), text.end(), at);
    m_size += text.size();
}

/// Add a text value.
void
TraceEvent::Value(std::string_view value)
{
    const bool isPlain = std::none_of(value.begin(), value.end(), [](char c) {
        return c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ';
    });
    if (!isPlain)
    {
        JsonWriter quoted;
        quoted.String(value);
        m_at = m_text.Reserve(m_at, quoted.GetText().size() + ROOM_BYTES);
        m_at = std::copy(quoted.GetText().begin(), quoted.GetText().end(), m_at);
        return;
    }
    m_at = m_text.Reserve(m_at, value.size() + ROOM_BYTES);
    *m_at++ = '"';
    m_at = std::copy(value.begin(), value.end(), m_at);
    *m_at++ = '"';
}

char*
TraceEvent::FormatMicroseconds(char* at, uint64_t ps)
{
    constexpr uint64_t psPerUs = 1'000'000;
    constexpr std::size_t digits = 6;
    char* end = Number(at, ps / psPerUs);
    uint64_t rest = ps % psPerUs;
    if (rest != 0)
    {
        *end = '.';
        for (std::size_t i = digits; i > 0; --i)
        {
            end[i] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        }
        end += digits + 1;
        while (end[-1] == '0')
        {
            --end;
        }
    }
    return end;
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
    const uint64_t before = std::exchange(m_fileBytes, m_sink({m_text.data(), m_size}));
    m_size = 0;
    // The next text will take about as much as this one, and the begun slices will end.
    const uint64_t next = m_fileBytes - std::min(m_fileBytes, before);
    m_isFull = m_isFull || m_fileBytes >= m_limitBytes ||
               m_limitBytes - m_fileBytes <= 2 * next + END_BYTES * m_openSlices;
}

} // namespace cosim
