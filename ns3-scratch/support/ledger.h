/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_LEDGER_H
#define COSIM_LEDGER_H

#include <tuple>

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
 * Add what was counted to counters.
 *
 * @param counters the counters
 * @param delta what is counted
 */
template <typename T>
void
AddCounters(T& counters, const T& delta)
{
    std::apply([&](auto... member) { ((counters.*member += delta.*member), ...); }, COUNTERS<T>);
}

} // namespace cosim

#endif // COSIM_LEDGER_H
