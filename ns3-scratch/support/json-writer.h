/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JSON_WRITER_H
#define COSIM_JSON_WRITER_H

#include <cstdint>
#include <string>
#include <string_view>

namespace cosim
{

/**
 * Writes JSON text, one value after the other; inside an object, Key stands before each value.
 */
class JsonWriter
{
  public:
    /// Open an object, as a value.
    void BeginObject();
    /// Close the innermost object.
    void EndObject();
    /// Open an array, as a value.
    void BeginArray();
    /// Close the innermost array.
    void EndArray();

    /**
     * @param key the name of the value that follows
     * @return this writer
     */
    JsonWriter& Key(std::string_view key);

    /// @param value text in UTF-8
    void String(std::string_view value);
    /// @param value a whole number
    void Uint(uint64_t value);
    /// @param value a number, written with as few digits as read back to it; null if not finite
    void Double(double value);
    /// @param ps a time [ps], written exactly in nanoseconds: 1500 ps are 1.5
    void Nanoseconds(uint64_t ps);

    /// @return the text so far
    const std::string& GetText() const;

  private:
    void Separate();
    void Quote(std::string_view value);

    std::string m_text;
    bool m_comma{false}; //!< a value stands before, in the same object or array
};

} // namespace cosim

#endif // COSIM_JSON_WRITER_H
