/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/length-distances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace cosim
{

namespace
{

constexpr double UNSEEN = std::numeric_limits<double>::infinity();

/// The distances from some roots, corrected over one more link at a time (Bellman and Ford).
class Distances
{
  public:
    explicit Distances(const WeightedLinks& links)
        : m_links(links),
          m_distance(links.GetNodes()),
          m_isNext(links.GetNodes())
    {
    }

    /**
     * @param roots at most as many roots as there are lanes
     * @return the sum of their distances to all nodes
     */
    double Run(std::span<const uint32_t> roots)
    {
        Lanes unseen;
        unseen.fill(UNSEEN);
        std::ranges::fill(m_distance, unseen);
        for (std::size_t lane = 0; lane < roots.size(); ++lane)
        {
            m_links.CheckRoot(roots[lane]);
            m_distance[roots[lane]][lane] = 0;
            m_changed.push_back(roots[lane]);
        }
        while (!m_changed.empty())
        {
            Relax();
        }
        double sum = 0;
        for (std::size_t node = 0; node < m_distance.size(); ++node)
        {
            for (std::size_t lane = 0; lane < roots.size(); ++lane)
            {
                if (std::isinf(m_distance[node][lane]))
                {
                    throw std::invalid_argument("node " + std::to_string(roots[lane]) +
                                                " does not reach node " + std::to_string(node));
                }
                sum += m_distance[node][lane];
            }
        }
        return sum;
    }

  private:
    /// Corrects the distances of the nodes after those that changed.
    COSIM_FASTEST void Relax()
    {
        m_next.clear();
        for (const uint32_t node : m_changed)
        {
            const Lanes here = m_distance[node];
            for (const auto& step : m_links.GetOutLinks(node))
            {
                Lanes& there = m_distance[step.target];
                bool isLess = false;
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    const double distance = here[lane] + step.weight;
                    isLess |= distance < there[lane];
                    there[lane] = std::min(there[lane], distance);
                }
                if (isLess && m_isNext[step.target] == 0)
                {
                    m_isNext[step.target] = 1;
                    m_next.push_back(step.target);
                }
            }
        }
        for (const uint32_t node : m_next)
        {
            m_isNext[node] = 0;
        }
        std::swap(m_changed, m_next);
    }

    const WeightedLinks& m_links;
    std::vector<Lanes> m_distance;   //!< for each node, its distance by root
    std::vector<uint32_t> m_changed; //!< the nodes whose distance changed
    std::vector<uint32_t> m_next;    //!< the same for the next pass
    std::vector<uint8_t> m_isNext;   //!< for each node, whether it is in the next list
};

} // namespace

double
SumDistances(const LinkView& links, std::span<const uint32_t> roots, std::span<const double> length)
{
    const WeightedLinks steps(links, length);
    Distances distances(steps);
    double sum = 0;
    for (std::size_t first = 0; first < roots.size(); first += LANES)
    {
        sum += distances.Run(roots.subspan(first, std::min(LANES, roots.size() - first)));
    }
    return sum;
}

} // namespace cosim
