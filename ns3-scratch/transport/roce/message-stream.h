/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_MESSAGE_STREAM_H
#define COSIM_MESSAGE_STREAM_H

#include <algorithm>
#include <cstdint>
#include <deque>

namespace cosim
{

/// The bytes that a queue pair sends: messages one after another, each in packets of its own.
class MessageStream
{
  public:
    /// @param payloadBytes payload of a full packet
    explicit MessageStream(uint32_t payloadBytes)
        : m_payloadBytes(payloadBytes)
    {
    }

    /// Append a message.
    void Append(uint64_t bytes)
    {
        m_end += bytes;
        m_ends.push_back(m_end);
    }

    /// @return the end of the last message
    uint64_t GetEnd() const
    {
        return m_end;
    }

    /// A packet of a message.
    struct Part
    {
        uint32_t bytes;
        bool isLast; //!< true if the message ends with it
    };

    /// @return the packet that begins at a place before the end and not before what was forgotten
    Part GetPart(uint64_t begin) const
    {
        uint64_t end = m_ends.front();
        if (end <= begin)
        {
            end = *std::upper_bound(m_ends.begin(), m_ends.end(), begin);
        }
        const uint64_t bytes = std::min<uint64_t>(end - begin, m_payloadBytes);
        return {static_cast<uint32_t>(bytes), begin + bytes == end};
    }

    /// Forget the messages that end at a place or before.
    void Forget(uint64_t until)
    {
        while (!m_ends.empty() && m_ends.front() <= until)
        {
            m_ends.pop_front();
        }
    }

  private:
    const uint32_t m_payloadBytes;
    uint64_t m_end{0};
    std::deque<uint64_t> m_ends; //!< of the messages, in order
};

} // namespace cosim

#endif // COSIM_MESSAGE_STREAM_H
