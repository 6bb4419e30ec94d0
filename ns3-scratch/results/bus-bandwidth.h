/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_BUS_BANDWIDTH_H
#define COSIM_BUS_BANDWIDTH_H

#include <cstdint>
#include <string_view>

namespace cosim
{

/**
 * @param bytes buffer of one rank [bytes]
 * @param durationPs time of the collective [ps]
 * @return the algorithm bandwidth (algbw) [bit/s]; 0 if the collective took no time
 */
inline double
GetAlgorithmBandwidth(uint64_t bytes, uint64_t durationPs)
{
    return durationPs == 0 ? 0
                           : static_cast<double>(bytes) * 8e12 / static_cast<double>(durationPs);
}

/// @return busbw / algbw of a group of ranks, as nccl-tests defines them
inline double
GetBusFactor(std::string_view operation, uint32_t groupSize)
{
    const double n = groupSize;
    if (operation == "broadcast" || operation == "reduce")
    {
        return 1;
    }
    return (operation == "all_reduce" ? 2 : 1) * (n - 1) / n;
}

} // namespace cosim

#endif // COSIM_BUS_BANDWIDTH_H
