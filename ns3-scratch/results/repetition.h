/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPETITION_H
#define COSIM_REPETITION_H

#include "support/fields.h"

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace cosim
{

/// Iterations that are not simulated, because they repeat what happened in a period.
struct Repetition
{
    uint32_t period{1};          //!< number of iterations of the period
    uint32_t times{0};           //!< how many times it is repeated
    uint64_t periodPs{0};        //!< its duration [ps]
    uint32_t collectives{0};     //!< by how much the ids of collectives grow with each iteration
    std::vector<uint32_t> nodes; //!< per rank: nodes of its trace in an iteration
};

/// What a run skipped because iterations repeat, and how far the checked ones were off.
struct RepeatRecord
{
    /// A number of iterations that were not simulated.
    struct Skip
    {
        uint32_t after;      //!< the iteration after which they come
        uint32_t iterations; //!< how many
        uint32_t period;     //!< number of iterations that they repeat
    };

    /// An iteration that was simulated after skipped ones.
    struct Check
    {
        uint32_t iteration;
        uint64_t timePs;     //!< from a point in it to the same point in the next one
        uint64_t expectedPs; //!< the same in the repeated iteration
    };

    bool isExact{false};
    uint32_t iterations{0}; //!< of the workload
    std::vector<Skip> skips;
    std::vector<Check> checks; //!< only if not exact
    std::string note;          //!< why nothing was skipped; empty if something was
};

template <>
inline constexpr auto FIELDS<RepeatRecord::Skip> =
    std::make_tuple(Field{"after", &RepeatRecord::Skip::after},
                    Field{"iterations", &RepeatRecord::Skip::iterations},
                    Field{"period", &RepeatRecord::Skip::period});

template <>
inline constexpr auto FIELDS<RepeatRecord::Check> =
    std::make_tuple(Field{"iteration", &RepeatRecord::Check::iteration},
                    Field{"time_ns", &RepeatRecord::Check::timePs},
                    Field{"expected_ns", &RepeatRecord::Check::expectedPs});

} // namespace cosim

#endif // COSIM_REPETITION_H
