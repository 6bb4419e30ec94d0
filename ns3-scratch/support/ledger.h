/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LEDGER_H
#define COSIM_LEDGER_H

#include <cstdint>
#include <tuple>
#include <type_traits>

namespace cosim
{

/**
 * @file
 * Counters that only grow. A struct lists them once; what compares two times, or counts again what
 * happened between them, goes through the list.
 */

/// The members of a struct that count: a tuple of pointers to integers.
template <typename T>
inline constexpr auto COUNTERS = std::tuple<>();

/**
 * @param now the counters at a time
 * @param before the counters at an earlier time
 * @return what was counted between them; 0 in the members that do not count
 */
template <typename T>
T
GetDelta(const T& now, const T& before)
{
    T delta{};
    std::apply([&](auto... member) { ((delta.*member = now.*member - before.*member), ...); },
               COUNTERS<T>);
    return delta;
}

/**
 * Count something a number of times.
 *
 * @param counters the counters to which it is added
 * @param delta what is counted each time
 * @param times number of times
 */
template <typename T>
void
AddCounters(T& counters, const T& delta, uint64_t times = 1)
{
    const auto add = [&](auto member) {
        using Count = std::remove_reference_t<decltype(counters.*member)>;
        counters.*member += static_cast<Count>(times) * (delta.*member);
    };
    std::apply([&](auto... member) { (add(member), ...); }, COUNTERS<T>);
}

} // namespace cosim

#endif // COSIM_LEDGER_H
