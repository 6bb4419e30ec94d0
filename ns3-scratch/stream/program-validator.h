/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PROGRAM_VALIDATOR_H
#define COSIM_PROGRAM_VALIDATOR_H

#include "stream/stream.h"

namespace cosim
{

/**
 * Check a program: the lengths and values of its arrays, and that its SEND and RECV steps match in
 * pairs.
 *
 * @param program the program
 * @param topology the topology whose dimensions the program refers to
 * @throws std::invalid_argument with one sentence that describes the first error
 */
void ValidateProgram(const Program& program, const Topology& topology);

} // namespace cosim

#endif // COSIM_PROGRAM_VALIDATOR_H
