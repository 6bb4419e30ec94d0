/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_CSV_WRITER_H
#define COSIM_CSV_WRITER_H

#include "support/fields.h"

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace cosim
{

/// Writes a table: a line with the names of the columns, then a line per row.
class CsvWriter
{
  public:
    /**
     * @param rows the rows that follow, or none, so that the first call writes the names alone
     * @param columns fields of a row, the same in each call. A number has the fewest digits
     * that read back as the same one.
     */
    template <typename... Get>
    void Rows(const auto& rows, const Field<Get>&... columns)
    {
        if (!m_hasNames)
        {
            m_hasNames = true;
            (Cell("", columns.name), ...);
            m_text.back() = '\n'; // instead of the comma
        }
        for (const auto& row : rows)
        {
            (Cell(columns.name, std::invoke(columns.get, row)), ...);
            m_text.back() = '\n';
        }
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
    void Cell(std::string_view name, const T& value)
    {
        if constexpr (std::convertible_to<const T&, std::string_view>)
        {
            Text(value);
            m_text += ',';
        }
        else if (IsTime<T>(name))
        {
            Cell("", static_cast<double>(value) / 1e3);
        }
        else
        {
            std::array<char, 32> digits;
            m_text.append(digits.data(),
                          std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
            m_text += ',';
        }
    }

    /// Write a text, in quotes if it has a comma, a quote or the end of a line.
    void Text(std::string_view text)
    {
        if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        {
            m_text += text;
            return;
        }
        m_text += '"';
        for (const char character : text)
        {
            m_text.append(character == '"' ? 2 : 1, character);
        }
        m_text += '"';
    }

    std::string m_text;
    bool m_hasNames{false};
};

} // namespace cosim

#endif // COSIM_CSV_WRITER_H
