/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "path-loads.h"

#include <stdexcept>
#include <string>

namespace cosim
{

std::vector<double>
PathLoads(const PathView& paths,
          std::span<const uint32_t> used,
          std::span<const double> bytes,
          uint32_t links)
{
    if (used.size() != bytes.size())
    {
        throw std::invalid_argument("expected bytes for every path that is used");
    }
    std::vector<double> loads(links);
    for (std::size_t i = 0; i < used.size(); ++i)
    {
        const std::size_t path = used[i];
        if (path + 1 >= paths.begin.size() || paths.begin[path + 1] > paths.links.size())
        {
            throw std::invalid_argument("path " + std::to_string(path) + " does not exist");
        }
        for (uint32_t hop = paths.begin[path]; hop < paths.begin[path + 1]; ++hop)
        {
            const uint32_t link = paths.links[hop];
            if (link >= links)
            {
                throw std::invalid_argument("link " + std::to_string(link) + " does not exist");
            }
            loads[link] += bytes[i];
        }
    }
    return loads;
}

} // namespace cosim
