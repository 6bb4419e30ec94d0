/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/weighted-links.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace cosim
{

WeightedLinks::WeightedLinks(const LinkView& links, std::span<const double> weight)
    : m_begin(std::size_t{links.nodes} + 1),
      m_steps(links.source.size())
{
    if (links.target.size() != links.source.size() || links.linkClass.size() != links.source.size())
    {
        throw std::invalid_argument("expected a target and a class for every link");
    }
    for (std::size_t link = 0; link < links.source.size(); ++link)
    {
        if (links.source[link] >= links.nodes || links.target[link] >= links.nodes ||
            links.linkClass[link] >= weight.size())
        {
            throw std::invalid_argument("link " + std::to_string(link) +
                                        " names a node or a class that does not exist");
        }
        ++m_begin[links.source[link] + 1];
    }
    std::partial_sum(m_begin.begin(), m_begin.end(), m_begin.begin());
    std::vector<std::size_t> next(m_begin);
    for (std::size_t link = 0; link < links.source.size(); ++link)
    {
        const uint32_t index = links.linkClass[link];
        m_steps[next[links.source[link]]++] = {links.target[link], index, weight[index]};
    }
}

void
WeightedLinks::CheckRoot(uint32_t root) const
{
    if (root >= GetNodes())
    {
        throw std::invalid_argument("root " + std::to_string(root) + " is not a node");
    }
}

} // namespace cosim
