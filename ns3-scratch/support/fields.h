/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_FIELDS_H
#define COSIM_FIELDS_H

#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace cosim
{

/**
 * @file
 * The fields of a struct are declared once, as a list. What reads or writes the struct goes through
 * the list.
 */

/// The fields of a struct: a tuple, or null if the struct has no list.
template <typename T>
inline constexpr auto FIELDS = nullptr;

/// A struct that has a list of fields in FIELDS.
template <typename T>
concept HasFields = !std::is_null_pointer_v<std::remove_const_t<decltype(FIELDS<T>)>>;

/**
 * A field of what is written: a key of JSON, or a column of a table. Its type decides how it is
 * written.
 */
template <typename Get>
struct Field
{
    /// with the unit; an integer whose name ends with "_ns" is in picoseconds, and is written in
    /// nanoseconds
    std::string_view name;
    Get get; //!< a member of the struct, or a function of it
};

/// A value and its name, which contains the unit as that of a Field.
template <typename T>
struct Named
{
    std::string_view name;
    const T& value;
};

/// @return true if a field of this type and name holds picoseconds that are written in nanoseconds
template <typename T>
constexpr bool
IsTime(std::string_view name)
{
    return std::is_integral_v<T> && name.ends_with("_ns");
}

/**
 * Call a function for each field of a struct.
 *
 * @param object the struct
 * @param fields its fields
 * @param visit receives the name and the value of a field
 */
template <typename T, typename... Get>
void
ForEachField(const T& object, const std::tuple<Field<Get>...>& fields, auto&& visit)
{
    std::apply(
        [&](const auto&... field) { (visit(field.name, std::invoke(field.get, object)), ...); },
        fields);
}

} // namespace cosim

#endif // COSIM_FIELDS_H
