/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_VALIDATION_H
#define COSIM_VALIDATION_H

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace cosim
{

/**
 * @file
 * Rejection of a stream, with a sentence that says where and why.
 */

/// A number or a text in an error message.
class MessagePart
{
  public:
    MessagePart(std::unsigned_integral auto number)
        : m_number(number)
    {
    }

    template <std::convertible_to<std::string_view> Text>
    MessagePart(const Text& text)
        : m_text(text),
          m_isText(true)
    {
    }

    /// @return what the message shows
    std::string Get() const
    {
        return m_isText ? std::string(m_text) : std::to_string(m_number);
    }

  private:
    uint64_t m_number{0};
    std::string_view m_text;
    bool m_isText{false};
};

/**
 * Reject a stream.
 *
 * @param text the error message, with {} for each part
 * @param parts the parts
 * @throws std::invalid_argument always
 */
[[noreturn]] inline void
Refuse(std::string_view text, std::initializer_list<MessagePart> parts = {})
{
    std::string message;
    for (const MessagePart& part : parts)
    {
        const std::size_t end = text.find("{}");
        message += std::string(text.substr(0, end)) + part.Get();
        text.remove_prefix(end + 2);
    }
    throw std::invalid_argument(message + std::string(text));
}

/// Refuse unless the condition is true.
inline void
Require(bool condition, std::string_view text, std::initializer_list<MessagePart> parts = {})
{
    if (!condition)
    {
        Refuse(text, parts);
    }
}

} // namespace cosim

#endif // COSIM_VALIDATION_H
