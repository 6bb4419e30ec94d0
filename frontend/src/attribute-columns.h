/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_ATTRIBUTE_COLUMNS_H
#define COSIM_ATTRIBUTE_COLUMNS_H

#include "stream/wire-reader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cosim
{

/// Whether a node has an attribute.
enum class Presence : uint8_t
{
    ABSENT = 0,
    PRESENT = 1,
    UNUSABLE = 2, //!< the value is of a kind that the attribute cannot have
};

/// The values of one attribute that is a whole number, one per node.
struct NumberColumn
{
    std::vector<uint64_t> values;
    std::vector<Presence> presence;
};

/// The values of one attribute that is text, one per node: an index in the table of texts, or -1.
using TextColumn = std::vector<int32_t>;

/**
 * The attributes of all nodes, a column for each attribute that is asked for.
 *
 * A number may come in any scalar type, as writers of traces differ in it: signed and unsigned
 * integers, Booleans, floating-point numbers without a fraction, and text with digits. A list of
 * Booleans counts as 1 if all of them are true. A text may come as a number.
 */
class AttributeColumns
{
  public:
    /**
     * @param numbers names of the attributes that are whole numbers
     * @param texts names of the attributes that are text
     */
    AttributeColumns(const std::vector<std::string>& numbers,
                     const std::vector<std::string>& texts);

    /// Begin the next node.
    void AddNode();

    /// @param attribute a message of type AttributeProto, an attribute of the last node
    void Read(WireReader attribute);

    /// @return the columns of numbers, in the order of their names
    std::vector<NumberColumn>& GetNumbers()
    {
        return m_numbers;
    }

    /// @return the columns of texts, in the order of their names
    std::vector<TextColumn>& GetTexts()
    {
        return m_texts;
    }

    /// @return the texts that columns refer to
    const std::vector<std::string>& GetTable() const
    {
        return m_table;
    }

  private:
    void SetNumber(NumberColumn& column, WireReader value);
    void SetText(TextColumn& column, WireReader value);
    int32_t GetIndex(const std::string& text);

    std::unordered_map<std::string, std::size_t> m_numberOf;
    std::unordered_map<std::string, std::size_t> m_textOf;
    std::vector<NumberColumn> m_numbers;
    std::vector<TextColumn> m_texts;
    std::vector<std::string> m_table;
    std::unordered_map<std::string, int32_t> m_indexOf;
};

} // namespace cosim

#endif // COSIM_ATTRIBUTE_COLUMNS_H
