/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lowering/step-lines.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <stdexcept>

namespace cosim
{

namespace
{

constexpr std::size_t COLUMNS = 9;

void
Append(std::string& text, const char* before, int64_t number)
{
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text.append(before).append(digits.data(), end);
}

const std::string&
NameOf(const std::vector<std::string>& names, int64_t code)
{
    if (code < 0 || static_cast<std::size_t>(code) >= names.size())
    {
        throw std::invalid_argument("there is no code " + std::to_string(code));
    }
    return names[static_cast<std::size_t>(code)];
}

} // namespace

std::string
StepLines(std::span<const int64_t> steps,
          const std::vector<std::string>& kinds,
          const std::vector<std::string>& buffers)
{
    if (steps.size() % COLUMNS != 0)
    {
        throw std::invalid_argument("expected nine numbers for each step");
    }
    constexpr std::size_t usual = 128; // characters of a line
    std::string text;
    text.reserve(steps.size() / COLUMNS * usual);
    for (std::size_t i = 0; i < steps.size() / COLUMNS; ++i)
    {
        const auto step = steps.subspan(i * COLUMNS, COLUMNS);
        Append(text, "      <step s=\"", static_cast<int64_t>(i));
        text.append("\" type=\"").append(NameOf(kinds, step[0]));
        text.append("\" srcbuf=\"").append(NameOf(buffers, step[1]));
        Append(text, "\" srcoff=\"", step[2]);
        text.append("\" dstbuf=\"").append(NameOf(buffers, step[3]));
        Append(text, "\" dstoff=\"", step[4]);
        Append(text, "\" cnt=\"", step[5]);
        Append(text, "\" depid=\"", step[6]);
        Append(text, "\" deps=\"", step[7]);
        Append(text, "\" hasdep=\"", step[8]);
        text.append("\"/>\n");
    }
    return text;
}

} // namespace cosim
