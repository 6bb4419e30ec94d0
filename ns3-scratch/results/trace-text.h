/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_TEXT_H
#define COSIM_TRACE_TEXT_H

#include "results/text-sink.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace cosim
{

class TraceText;

/**
 * An event of a TraceText. Add its keys, then call End.
 *
 * A run can have an event for each hundred nanoseconds of its CPU time. Constant texts are
 * therefore copied with a few instructions, and the room for an event is checked once.
 */
class TraceEvent
{
  public:
    /// Room for all of an event but its text values [bytes].
    static constexpr std::size_t ROOM_BYTES = 1024;

    /**
     * @param text the text to which End adds the event; must outlive it
     * @param at room for the event
     */
    TraceEvent(TraceText& text, char* at)
        : m_text(text),
          m_at(at)
    {
    }

    /**
     * Write the type, process and thread of an event, and its time as formatted text.
     *
     * @param separator stands before the event, on the line of the event before
     */
    template <std::size_t TimeBytes>
    void Start(char separator,
               char type,
               uint32_t process,
               uint32_t thread,
               const std::array<char, TimeBytes>& time,
               std::size_t timeSize)
    {
        char* at = m_at;
        *at++ = separator;
        at = Put(at, "\n{\"ph\":\"");
        *at++ = type;
        at = Number(Put(at, "\",\"pid\":"), process);
        at = Number(Put(at, ",\"tid\":"), thread);
        at = Put(at, ",\"ts\":");
        std::memcpy(at, time.data(), TimeBytes);
        m_at = at + timeSize;
    }

    /// Add a key with a text value. The key needs no escapes.
    template <std::size_t Size>
    TraceEvent& Text(const char (&key)[Size], std::string_view value)
    {
        Key(key);
        Value(value);
        return *this;
    }

    /// Add a key with an integer value.
    template <std::size_t Size>
    TraceEvent& Uint(const char (&key)[Size], uint64_t value)
    {
        Key(key);
        m_at = Number(m_at, value);
        return *this;
    }

    /// Add a key with a value in microseconds.
    template <std::size_t Size>
    TraceEvent& Microseconds(const char (&key)[Size], uint64_t ps)
    {
        Key(key);
        m_at = FormatMicroseconds(m_at, ps);
        return *this;
    }

    /// Add what the two ends of an arrow share: its name, category and number.
    TraceEvent& Message(uint64_t id)
    {
        m_at = Number(Put(m_at, ",\"name\":\"message\",\"cat\":\"m\",\"id\":"), id);
        return *this;
    }

    /// Add the key "args"; the keys that follow belong to it.
    TraceEvent& Arguments()
    {
        m_at = Put(m_at, ",\"args\":{");
        m_needsComma = false;
        m_inArguments = true;
        return *this;
    }

    /// Add the event to the text.
    void End();

    /**
     * Write a time in microseconds.
     *
     * @param at room for the text
     * @param ps the time [ps]
     * @return the end of the text
     */
    static char* FormatMicroseconds(char* at, uint64_t ps);

  private:
    template <std::size_t Size>
    static char* Put(char* at, const char (&text)[Size])
    {
        std::memcpy(at, text, Size - 1);
        return at + Size - 1;
    }

    static char* Number(char* at, uint64_t value)
    {
        constexpr std::size_t digits = 20;
        return std::to_chars(at, at + digits, value).ptr;
    }

    template <std::size_t Size>
    void Key(const char (&key)[Size])
    {
        char* at = m_at;
        *at = ',';
        at += m_needsComma ? 1 : 0;
        *at++ = '"';
        m_at = Put(Put(at, key), "\":");
        m_needsComma = true;
    }

    void Value(std::string_view value);

    TraceText& m_text;
    char* m_at;
    bool m_needsComma{true};
    bool m_inArguments{false};
};

/**
 * Writes events in the Chrome-trace format: one JSON object per line. Text goes to the sink from
 * time to time, so the memory that it takes is small and constant.
 */
class TraceText
{
  public:
    /**
     * @param sink receives the text
     * @param limitBytes largest size of the file [bytes]. If it is less than the few kilobytes that
     * an empty file and the ends of begun events take, the file is larger.
     */
    TraceText(TextSink sink, uint64_t limitBytes);

    /**
     * Begin an event.
     *
     * @param type the type of the event, such as 'B'
     * @param process the process of the event
     * @param thread the thread of the event
     * @param timePs time of the event [ps]
     * @return the event
     */
    TraceEvent Begin(char type, uint32_t process, uint32_t thread, uint64_t timePs)
    {
        if (timePs != m_timePs)
        { // many events happen at the same time
            m_timePs = timePs;
            m_timeSize = static_cast<std::size_t>(
                TraceEvent::FormatMicroseconds(m_time.data(), timePs) - m_time.data());
        }
        m_openSlices += type == 'B' ? 1 : 0;
        m_openSlices -= type == 'E' ? 1 : 0;
        TraceEvent event(*this, Reserve(m_text.data() + m_size, TraceEvent::ROOM_BYTES));
        event.Start(m_separator, type, process, thread, m_time, m_timeSize);
        m_separator = ',';
        return event;
    }

    /// Begin an event that names a process or a thread.
    TraceEvent BeginMeta(uint32_t process, uint32_t thread, std::string_view what)
    {
        TraceEvent event = Begin('M', process, thread, 0);
        event.Text("name", what).Arguments();
        return event;
    }

    /// @return true if the file has no room for further events, except for ends of begun ones
    bool IsFull() const
    {
        return m_isFull;
    }

    /// Write the end of the file: the given keys and values in JSON, after at least one event.
    void Finish(const std::string& otherData);

  private:
    friend class TraceEvent;

    /**
     * Make room for a number of characters.
     *
     * @param at end of the text so far
     * @return the same place, also if the text had to move
     */
    char* Reserve(char* at, std::size_t size)
    {
        const auto used = static_cast<std::size_t>(at - m_text.data());
        if (m_text.size() - used < size)
        {
            m_text.resize(used + size);
        }
        return m_text.data() + used;
    }

    /**
     * Add the events up to here to the text.
     *
     * @param at their end
     */
    void Add(const char* at)
    {
        m_size = static_cast<std::size_t>(at - m_text.data());
        if (m_size >= m_blockBytes)
        {
            Flush();
        }
    }

    void Append(std::string_view text);
    void Flush();

    TextSink m_sink;
    uint64_t m_limitBytes;
    std::size_t m_blockBytes; //!< size of the text from which it goes to the sink [bytes]
    std::vector<char> m_text;
    std::size_t m_size{0};            //!< of the text in m_text [bytes]
    uint64_t m_fileBytes{0};          //!< size of the file so far [bytes]
    uint64_t m_openSlices{0};         //!< begun slices whose ends are not written
    uint64_t m_timePs{0};             //!< time of the last event [ps]
    std::array<char, 32> m_time{'0'}; //!< its text
    std::size_t m_timeSize{1};        //!< of the text in m_time [bytes]
    char m_separator{'['};            //!< before the next event
    bool m_isFull{false};
};

inline void
TraceEvent::End()
{
    char* at = m_at;
    *at = '}';
    at += m_inArguments ? 1 : 0;
    m_text.Add(Put(at, "}"));
}

} // namespace cosim

#endif // COSIM_TRACE_TEXT_H
