/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_NUMBER_RANGES_H
#define COSIM_NUMBER_RANGES_H

#include <cstdint>
#include <string>
#include <vector>

namespace cosim
{

/**
 * @param numbers increasing numbers
 * @return the numbers as text, such as "0-3, 7"
 */
std::string DescribeRanges(const std::vector<uint32_t>& numbers);

} // namespace cosim

#endif // COSIM_NUMBER_RANGES_H
