/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPEAT_RECORD_H
#define COSIM_REPEAT_RECORD_H

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

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

} // namespace cosim

#endif // COSIM_REPEAT_RECORD_H
