/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PIECE_VALIDATOR_H
#define COSIM_PIECE_VALIDATOR_H

#include "stream/stream.h"

#include <cstdint>
#include <vector>

namespace cosim
{

/// The largest number of steps of all members of a program.
constexpr uint64_t MAX_STEPS = ~uint32_t{0};

/// The largest number of members in all groups of all pieces of a program.
constexpr uint64_t MAX_PIECE_MEMBERS = uint64_t{1} << 26;

/**
 * Check the pieces of a program.
 *
 * @param programs the programs of the stream
 * @param whole the program
 * @param reach per earlier program: the end of the units that its steps access
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidatePieces(const std::vector<Program>& programs,
                    const Program& whole,
                    const std::vector<uint64_t>& reach);

} // namespace cosim

#endif // COSIM_PIECE_VALIDATOR_H
