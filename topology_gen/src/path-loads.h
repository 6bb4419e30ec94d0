/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_PATH_LOADS_H
#define COSIM_PATH_LOADS_H

#include <cstdint>
#include <span>
#include <vector>

namespace cosim
{

/// Paths of a network; the links of path i are `links[begin[i]]` … `links[begin[i + 1] - 1]`.
struct PathView
{
    std::span<const uint32_t> begin; //!< one entry more than there are paths
    std::span<const uint32_t> links; //!< each less than the number of links
};

/**
 * Computes what links carry if bytes go over some paths.
 *
 * @param paths the paths
 * @param used the paths over which bytes go; a path may be there several times
 * @param bytes for each used path, its bytes
 * @param links number of links
 * @return for each link, its bytes
 * @throws std::invalid_argument if a path or link does not exist, or has no bytes
 */
std::vector<double> PathLoads(const PathView& paths,
                              std::span<const uint32_t> used,
                              std::span<const double> bytes,
                              uint32_t links);

} // namespace cosim

#endif // COSIM_PATH_LOADS_H
