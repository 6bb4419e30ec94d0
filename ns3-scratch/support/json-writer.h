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
 * Writes JSON text, one value after another. Inside an object, call Key before each value.
 */
class JsonWriter
{
  public:
    /// Begin an object as the next value.
    void BeginObject();
    /// End the innermost object.
    void EndObject();
    /// Begin an array as the next value.
    void BeginArray();
    /// End the innermost array.
    void EndArray();

    /**
     * @param key name of the next value
     * @return this writer
     */
    JsonWriter& Key(std::string_view key);

    /// @param value text in UTF-8
    void String(std::string_view value);
    /// @param value an unsigned integer
    void Uint(uint64_t value);
    /// @param value a Boolean
    void Bool(bool value);
    /**
     * @param value a number. It is written with the fewest digits that read back as the same
     * number, or as null if it is not finite.
     */
    void Double(double value);
    /// @param ps a time [ps]; it is written exactly, in nanoseconds: 1500 ps as 1.5
    void Nanoseconds(uint64_t ps);

    /// @param ps a time that may be negative, written like that of Nanoseconds [ps]
    void SignedNanoseconds(int64_t ps);

    /// @return the text so far
    const std::string& GetText() const;

  private:
    void Separate();
    void Quote(std::string_view value);

    std::string m_text;
    bool m_comma{false}; //!< true if the current object or array already has a value
};

} // namespace cosim

#endif // COSIM_JSON_WRITER_H
