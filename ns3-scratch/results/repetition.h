/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REPETITION_H
#define COSIM_REPETITION_H

#include <cstdint>
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

} // namespace cosim

#endif // COSIM_REPETITION_H
