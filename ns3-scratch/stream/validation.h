/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_VALIDATION_H
#define COSIM_VALIDATION_H

#include "stream/stream-validator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * Functions that the validators share: rejection of a stream, and checks that many arrays need.
 */

namespace cosim
{

/// Throw std::invalid_argument. The message is the concatenation of the parts.
template <typename... Parts>
[[noreturn]] void
Refuse(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    throw std::invalid_argument(text.str());
}

/// Throw std::invalid_argument unless the condition is true.
template <typename... Parts>
void
Require(bool condition, const Parts&... parts)
{
    if (!condition)
    {
        Refuse(parts...);
    }
}

/// Check the length of an array.
inline void
RequireLength(std::size_t length, std::size_t expected, const std::string& array)
{
    Require(length == expected,
            array,
            " has ",
            length,
            " entries, but ",
            expected,
            " are expected");
}

/// Check that a time is at most MAX_TIME_PS.
inline void
RequireTime(uint64_t ps, const std::string& what)
{
    Require(ps <= MAX_TIME_PS,
            what,
            " is ",
            ps,
            " ps, but at most ",
            MAX_TIME_PS,
            " ps are accepted");
}

/// Check that a delay is at most MAX_DELAY_PS.
inline void
RequireDelay(uint64_t ps, const std::string& what)
{
    Require(ps <= MAX_DELAY_PS,
            what,
            " is ",
            ps,
            " ps, but at most ",
            MAX_DELAY_PS,
            " ps (1000 s) are accepted");
}

/// Check that a rate of a link is MIN_RATE_BPS … `most`.
inline void
RequireRate(uint64_t bps, uint64_t most, const std::string& what)
{
    Require(bps >= MIN_RATE_BPS && bps <= most,
            what,
            " is ",
            bps,
            " bit/s, but ",
            MIN_RATE_BPS,
            " … ",
            most,
            " are accepted");
}

/// Check an array that holds the boundaries of slices of another array.
inline void
RequireSlices(const std::vector<uint32_t>& begin,
              std::size_t owners,
              std::size_t items,
              const std::string& array)
{
    RequireLength(begin.size(), owners + 1, array);
    Require(begin.front() == 0 && begin.back() == items &&
                std::is_sorted(begin.begin(), begin.end()),
            array,
            " does not rise from 0 to ",
            items);
}

} // namespace cosim

#endif // COSIM_VALIDATION_H
