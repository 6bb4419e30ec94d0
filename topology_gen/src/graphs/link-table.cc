/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/link-table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cosim
{

LinkTable::LinkTable(uint32_t nodes,
                     std::span<const uint32_t> source,
                     std::span<const uint32_t> target)
    : m_begin(std::size_t{nodes} + 1),
      m_inLinks(source.size())
{
    if (source.size() != target.size())
    {
        throw std::invalid_argument("expected as many sources as targets");
    }
    for (const auto ends : {source, target})
    {
        const auto outside = std::ranges::find_if(ends, [nodes](uint32_t v) { return v >= nodes; });
        if (outside != ends.end())
        {
            throw std::invalid_argument("a link names node " + std::to_string(*outside) +
                                        ": expected 0 … " + std::to_string(int64_t{nodes} - 1));
        }
    }
    for (const uint32_t node : target)
    {
        ++m_begin[std::size_t{node} + 1];
    }
    for (std::size_t node = 0; node < nodes; ++node)
    {
        m_begin[node + 1] += m_begin[node];
    }
    std::vector<std::size_t> next(m_begin.begin(), m_begin.end() - 1);
    for (std::size_t link = 0; link < source.size(); ++link)
    {
        m_inLinks[next[target[link]]++] = {source[link], static_cast<uint32_t>(link)};
    }
}

uint32_t
LinkTable::GetNodes() const
{
    return static_cast<uint32_t>(m_begin.size() - 1);
}

std::size_t
LinkTable::GetLinks() const
{
    return m_inLinks.size();
}

uint32_t
LinkTable::GetMaxInDegree() const
{
    std::size_t greatest = 0;
    for (std::size_t node = 0; node + 1 < m_begin.size(); ++node)
    {
        greatest = std::max(greatest, m_begin[node + 1] - m_begin[node]);
    }
    return static_cast<uint32_t>(greatest);
}

std::span<const LinkTable::InLink>
LinkTable::GetInLinks(uint32_t node) const
{
    return std::span(m_inLinks).subspan(m_begin[node], m_begin[node + 1] - m_begin[node]);
}

} // namespace cosim
