/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "support/number-ranges.h"

#include <sstream>

namespace cosim
{

std::string
DescribeRanges(const std::vector<uint32_t>& numbers)
{
    std::ostringstream text;
    for (std::size_t i = 0; i < numbers.size();)
    {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
        {
            ++last;
        }
        text << (i == 0 ? "" : ", ") << numbers[i];
        if (last != i)
        {
            text << "-" << numbers[last];
        }
        i = last + 1;
    }
    return text.str();
}

} // namespace cosim
