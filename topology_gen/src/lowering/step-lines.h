/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_LINES_H
#define COSIM_STEP_LINES_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cosim
{

/**
 * Writes the steps of a thread block as lines of MSCCL XML.
 *
 * @param steps for each step, nine numbers: code of its kind, code and offset of the source, code
 * and offset of the target, number of chunks, block and number of the step that it waits for, and
 * whether others wait for it
 * @param kinds the names of the kinds
 * @param buffers the names of the buffers
 * @return one line for each step
 * @throws std::invalid_argument if the numbers are not nine for each step, or there is no such code
 */
std::string StepLines(std::span<const int64_t> steps,
                      const std::vector<std::string>& kinds,
                      const std::vector<std::string>& buffers);

} // namespace cosim

#endif // COSIM_STEP_LINES_H
