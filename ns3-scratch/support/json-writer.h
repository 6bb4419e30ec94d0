/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_JSON_WRITER_H
#define COSIM_JSON_WRITER_H

#include "support/fields.h"

#include <concepts>
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

    /**
     * Write a value as its type says: a struct with FIELDS as an object with these keys, and a
     * range of values as an array.
     */
    template <typename T>
    void Value(const T& value);

    /// Write a key and its value, in nanoseconds if it IsTime; nothing for an empty optional.
    template <typename T>
    void Member(std::string_view key, const T& value);

    /// Write the FIELDS of a struct as members of the current object.
    template <HasFields T>
    void Members(const T& object)
    {
        ForEachField(object, FIELDS<T>, [this](std::string_view key, const auto& value) {
            Member(key, value);
        });
    }

    /// Write an object with these members.
    template <typename... T>
    void Object(const Named<T>&... members)
    {
        BeginObject();
        (Member(members.name, members.value), ...);
        EndObject();
    }

    /**
     * Write a key and an array.
     *
     * @param key the key
     * @param items what the array is made from
     * @param write writes the value of an item, or none
     */
    void Array(std::string_view key, const auto& items, auto&& write)
    {
        Key(key).BeginArray();
        for (const auto& item : items)
        {
            write(item);
        }
        EndArray();
    }

    /// @return the text so far
    const std::string& GetText() const;

  private:
    void Separate();
    void Quote(std::string_view value);

    std::string m_text;
    bool m_comma{false}; //!< true if the current object or array already has a value
};

template <typename T>
void
JsonWriter::Value(const T& value)
{
    if constexpr (std::same_as<T, bool>)
    {
        Bool(value);
    }
    else if constexpr (std::unsigned_integral<T>)
    {
        Uint(value);
    }
    else if constexpr (std::floating_point<T>)
    {
        Double(value);
    }
    else if constexpr (std::convertible_to<const T&, std::string_view>)
    {
        String(value);
    }
    else if constexpr (HasFields<T>)
    {
        BeginObject();
        Members(value);
        EndObject();
    }
    else
    {
        BeginArray();
        for (const auto& item : value)
        {
            Value(item);
        }
        EndArray();
    }
}

template <typename T>
void
JsonWriter::Member(std::string_view key, const T& value)
{
    if constexpr (requires { value.has_value(); })
    {
        if (value)
        {
            Member(key, *value);
        }
    }
    else
    {
        Key(key);
        if constexpr (std::integral<T>)
        {
            if (IsTime<T>(key))
            {
                Nanoseconds(value);
                return;
            }
        }
        Value(value);
    }
}

} // namespace cosim

#endif // COSIM_JSON_WRITER_H
