/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LIMITS_H
#define COSIM_LIMITS_H

#include "stream/stream.h"
#include "stream/validation.h"
#include "support/fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace cosim
{

/**
 * @file
 * Limits of single fields, which stand beside the fields in stream-fields.h.
 *
 * Some limits depend on a count: of the entries of another field of the message, which is given as
 * a pointer to that member, or of something else, which is given as a function of the stream and
 * the message.
 */

/// The name of a field in an error message, which is made only for the message.
struct FieldName
{
    const std::string& where; //!< start of the message
    std::string_view field;

    std::string Get() const
    {
        return where + std::string(field);
    }
};

/// A field with limits.
template <typename Member, typename... Limits>
struct Limited
{
    constexpr Limited(std::string_view itsName, Member itsMember, Limits... itsLimits)
        : name(itsName),
          member(itsMember),
          limits(itsLimits...)
    {
    }

    std::string_view name; //!< in an error message
    Member member;
    std::tuple<Limits...> limits;
};

/// @return the member of a field without limits
template <typename Member>
constexpr Member
GetMember(Member member)
{
    return member;
}

/// @return the member of a field with limits
template <typename Member, typename... Limits>
constexpr Member
GetMember(const Limited<Member, Limits...>& field)
{
    return field.member;
}

/// @return a count that a limit depends on
template <typename Count, typename T>
std::size_t
GetCount(const Count& count, const Stream& stream, const T& message)
{
    if constexpr (std::is_member_pointer_v<Count>)
    {
        return (message.*count).size();
    }
    else
    {
        return count(stream, message);
    }
}

/// A number outside its limits.
struct Outside
{
    std::string name;
    uint64_t value;
};

/// @return the number, or the first number of a list, that is not least … end - 1
template <typename T>
std::optional<Outside>
FindOutside(const FieldName& name, const T& value, uint64_t least, uint64_t end)
{
    if constexpr (std::is_integral_v<T>)
    {
        return value < least || value >= end ? std::optional(Outside{name.Get(), value})
                                             : std::nullopt;
    }
    else
    {
        // Mostly all are inside, which this loop finds out without branches.
        using Number = typename T::value_type;
        const uint64_t most = std::min<uint64_t>(end - 1, std::numeric_limits<Number>::max());
        const auto width = static_cast<Number>(most - least);
        bool areInside = end > least;
        for (const Number number : value)
        {
            areInside &= static_cast<Number>(number - static_cast<Number>(least)) <= width;
        }
        if (areInside || value.empty())
        {
            return std::nullopt;
        }
        const auto wrong = std::find_if(value.begin(), value.end(), [&](uint64_t number) {
            return number < least || number >= end;
        });
        return Outside{name.Get() + "[" + std::to_string(wrong - value.begin()) + "]", *wrong};
    }
}

/// Check the length of a list.
inline void
RequireLength(std::size_t length, std::size_t expected, const FieldName& name)
{
    if (length != expected)
    {
        Refuse("{} has {} entries, but {} are expected", {name.Get(), length, expected});
    }
}

/// Check a list that holds the boundaries of slices of another list.
inline void
RequireSlices(const std::vector<uint32_t>& begin,
              std::size_t owners,
              std::size_t items,
              const FieldName& name)
{
    RequireLength(begin.size(), owners + 1, name);
    if (begin.front() != 0 || begin.back() != items || !std::is_sorted(begin.begin(), begin.end()))
    {
        Refuse("{} does not rise from 0 to {}", {name.Get(), items});
    }
}

/// The number, or each number of the list, is least … most.
struct Range
{
    uint64_t least;
    uint64_t most;

    void Check(const FieldName& name, const auto& value, const auto&... /* unused */) const
    {
        const auto wrong = FindOutside(name, value, least, most + 1);
        if (wrong && least == 0)
        {
            Refuse("{} is {}, but at most {} are accepted", {wrong->name, wrong->value, most});
        }
        if (wrong)
        {
            Refuse("{} is {}, but {} … {} are accepted", {wrong->name, wrong->value, least, most});
        }
    }
};

/// The number, or each number of the list, is at least `least`.
struct Minimum
{
    uint64_t least;

    void Check(const FieldName& name, const auto& value, const auto&... /* unused */) const
    {
        const uint64_t end = std::numeric_limits<uint64_t>::max();
        if (const auto wrong = FindOutside(name, value, least, end))
        {
            Refuse("{} is {}, but at least {} are needed", {wrong->name, wrong->value, least});
        }
    }
};

/// The number, or each number of the list, is the index of one of several things.
template <typename Count>
struct IndexOf
{
    std::string_view things; //!< their name
    Count count;
    uint64_t first{0}; //!< number of the first one; 1 if 0 stands for none

    void Check(const FieldName& name,
               const auto& value,
               const Stream& stream,
               const auto& message) const
    {
        const std::size_t known = GetCount(count, stream, message);
        if (const auto wrong = FindOutside(name, value, 0, known + first))
        {
            Refuse("{} is {}, but there are {} {}", {wrong->name, wrong->value, known, things});
        }
    }
};

/// The list has so many entries.
template <typename Count>
struct Length
{
    Count count;
    bool canBeEmpty{false};

    void Check(const FieldName& name,
               const auto& list,
               const Stream& stream,
               const auto& message) const
    {
        if (!canBeEmpty || !list.empty())
        {
            RequireLength(list.size(), GetCount(count, stream, message), name);
        }
    }
};

/// The list holds the boundaries of slices of another list.
template <typename Owners, typename Items>
struct Slices
{
    Owners owners; //!< the number of slices
    Items items;   //!< the length of the other list
    bool canBeEmpty{false};

    void Check(const FieldName& name,
               const std::vector<uint32_t>& begin,
               const Stream& stream,
               const auto& message) const
    {
        const std::size_t end = GetCount(items, stream, message);
        if (!canBeEmpty || !begin.empty() || end != 0)
        {
            RequireSlices(begin, GetCount(owners, stream, message), end, name);
        }
    }
};

/// A field without limits.
template <typename Field, typename T>
void
CheckField(const Field& /* field */,
           const Stream& /* stream */,
           const T& /* message */,
           const std::string& /* where */)
{
}

template <HasFields T>
void CheckLimits(const Stream& stream, const T& message, const std::string& where);

/// Check a field and the messages in it.
template <typename Member, typename... Limits, typename T>
void
CheckField(const Limited<Member, Limits...>& field,
           const Stream& stream,
           const T& message,
           const std::string& where)
{
    const FieldName name{where, field.name};
    const auto& value = message.*field.member;
    std::apply([&](const auto&... limit) { (limit.Check(name, value, stream, message), ...); },
               field.limits);
    if constexpr (requires { CheckLimits(stream, value, where); })
    {
        CheckLimits(stream, value, name.Get() + ".");
    }
    else if constexpr (requires { CheckLimits(stream, value.front(), where); })
    {
        for (std::size_t i = 0; i < value.size(); ++i)
        {
            CheckLimits(stream, value[i], name.Get() + "[" + std::to_string(i) + "].");
        }
    }
}

/**
 * Check the limits of the fields of a message, and of the messages in it.
 *
 * @param stream the stream that has the message
 * @param message the message
 * @param where start of the error messages
 * @throws std::invalid_argument with one sentence that describes the first error
 */
template <HasFields T>
void
CheckLimits(const Stream& stream, const T& message, const std::string& where)
{
    std::apply([&](const auto&... field) { (CheckField(field, stream, message, where), ...); },
               FIELDS<T>);
}

} // namespace cosim

#endif // COSIM_LIMITS_H
