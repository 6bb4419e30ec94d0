/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_TRACE_TEXT_H
#define COSIM_TRACE_TEXT_H

#include "results/text-sink.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cosim
{

/**
 * Writes events in the Chrome-trace format: one JSON object per line. Text goes to the sink from
 * time to time, so the memory that it takes is small and constant.
 */
class TraceText
{
  public:
    /**
     * @param sink receives the text
     * @param limitBytes size of the file from which no further events fit [bytes]
     */
    TraceText(TextSink sink, uint64_t limitBytes);

    /**
     * Begin an event. Add its further keys, then call End.
     *
     * @param type the type of the event, such as 'B'
     * @param process the process of the event
     * @param thread the thread of the event
     * @param timePs time of the event [ps]
     * @return this object
     */
    TraceText& Begin(char type, uint32_t process, uint32_t thread, uint64_t timePs);

    /// Begin an event that names a process or a thread.
    TraceText& BeginMeta(uint32_t process, uint32_t thread, std::string_view what);

    /// Add a key with a text value. The key needs no escapes.
    TraceText& Text(std::string_view key, std::string_view value);
    /// Add a key with an integer value.
    TraceText& Uint(std::string_view key, uint64_t value);
    /// Add a key with a value in microseconds.
    TraceText& Microseconds(std::string_view key, uint64_t ps);
    /// Add what the two ends of an arrow share: its name, category and number. Most events do.
    TraceText& Message(uint64_t id);
    /// Add the key "args"; the keys that follow belong to it.
    TraceText& Arguments();

    /// End the event.
    void End();

    /// @return true if the file has no room for further events, except for ends of begun ones
    bool IsFull() const
    {
        return m_isFull;
    }

    /// Write the end of the file: the given keys and values in JSON, after the events.
    void Finish(const std::string& otherData);

  private:
    char* Reserve(std::size_t size);
    void Append(std::string_view text);
    void Key(std::string_view key);
    void Number(uint64_t value);
    void Time(uint64_t ps);
    void Flush();

    TextSink m_sink;
    uint64_t m_limitBytes;
    std::vector<char> m_text;
    std::size_t m_size{0};       //!< of the text in m_text [bytes]
    uint64_t m_timePs{0};        //!< time of the last event [ps]
    std::array<char, 40> m_time; //!< its key and text
    std::size_t m_timeSize{0};   //!< of the text in m_time [bytes]
    bool m_isFirst{true};
    bool m_inArguments{false};
    bool m_needsComma{false};
    bool m_isFull{false};
};

} // namespace cosim

#endif // COSIM_TRACE_TEXT_H
