/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CSV_WRITER_H
#define COSIM_CSV_WRITER_H

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace cosim
{

/// Writes the lines of a table, one cell after another.
class CsvWriter
{
  public:
    /// @param columns names of the columns, joined by commas
    explicit CsvWriter(std::string_view columns)
        : m_text(columns)
    {
        m_text += '\n';
    }

    CsvWriter& Uint(uint64_t value)
    {
        return Number(value);
    }

    /// @param value a number; it is written with the fewest digits that read back as the same one
    CsvWriter& Double(double value)
    {
        return Number(value);
    }

    /// @param name a name without commas and quotes
    CsvWriter& Name(std::string_view name)
    {
        m_text += name;
        m_text += ',';
        return *this;
    }

    void EndLine()
    {
        m_text.back() = '\n'; // instead of the comma
    }

    /// @return the text since the last call
    std::string Take()
    {
        return std::exchange(m_text, {});
    }

    /// @return the size of this text [bytes]
    std::size_t GetSize() const
    {
        return m_text.size();
    }

  private:
    template <typename T>
    CsvWriter& Number(T value)
    {
        std::array<char, 32> digits;
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
        m_text.append(digits.data(), end);
        m_text += ',';
        return *this;
    }

    std::string m_text;
};

} // namespace cosim

#endif // COSIM_CSV_WRITER_H
