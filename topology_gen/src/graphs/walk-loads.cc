/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/walk-loads.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

/**
 * Replaces the sum of all walks to each node by the factor with which these walks deliver 1.
 *
 * @param wanted for each node, its value by root
 * @param roots the roots, which need nothing from themselves
 * @throws std::invalid_argument if a root does not reach a node
 */
void
Invert(std::vector<Lanes>& wanted, std::span<const uint32_t> roots)
{
    for (std::size_t lane = 0; lane < LANES; ++lane)
    {
        for (std::size_t node = 0; node < wanted.size(); ++node)
        {
            double& value = wanted[node][lane];
            if (lane >= roots.size() || node == roots[lane])
            {
                value = 0;
                continue;
            }
            if (value <= 0)
            {
                throw std::invalid_argument("node " + std::to_string(roots[lane]) +
                                            " does not reach node " + std::to_string(node));
            }
            value = 1 / value;
        }
    }
}

/// The walks from some roots, by number of hops.
class Walks
{
  public:
    Walks(const WeightedLinks& links, uint32_t hops)
        : m_links(links),
          m_nodes(links.GetNodes()),
          m_hops(hops),
          m_from((hops + 1) * m_nodes),
          m_active(hops + 1),
          m_isActive(m_nodes),
          m_wanted(m_nodes),
          m_after(m_nodes),
          m_before(m_nodes)
    {
    }

    /**
     * Adds the loads of some roots.
     *
     * @param roots at most as many roots as there are lanes
     * @param loads for each class, its load
     */
    void Run(std::span<const uint32_t> roots, std::span<double> loads)
    {
        Start(roots);
        for (uint32_t hop = 0; hop < m_hops; ++hop)
        {
            Spread(hop);
        }
        Invert(m_wanted, roots);
        for (const uint32_t node : m_active[m_hops])
        {
            m_after[node] = m_wanted[node];
        }
        for (uint32_t hop = m_hops; hop-- > 0;)
        {
            Collect(hop, loads);
            m_after.swap(m_before);
        }
    }

  private:
    /// Forgets earlier roots, and starts a walk of no hops at each root.
    void Start(std::span<const uint32_t> roots)
    {
        for (uint32_t hop = 0; hop <= m_hops; ++hop)
        {
            for (const uint32_t node : m_active[hop])
            {
                m_from[hop * m_nodes + node] = {};
            }
            m_active[hop].clear();
        }
        std::ranges::fill(m_wanted, Lanes{});
        for (std::size_t lane = 0; lane < roots.size(); ++lane)
        {
            m_links.CheckRoot(roots[lane]);
            if (std::ranges::all_of(m_from[roots[lane]], [](double walks) { return walks == 0; }))
            {
                m_active[0].push_back(roots[lane]);
            }
            m_from[roots[lane]][lane] = 1;
        }
    }

    /// Continues all walks of some number of hops over one more link.
    COSIM_FASTEST void Spread(uint32_t hop)
    {
        const Lanes* here = &m_from[hop * m_nodes];
        Lanes* next = &m_from[(hop + 1) * m_nodes];
        std::vector<uint32_t>& active = m_active[hop + 1];
        for (const uint32_t node : m_active[hop])
        {
            const Lanes walks = here[node];
            for (const auto& step : m_links.GetOutLinks(node))
            {
                if (!m_isActive[step.target])
                {
                    m_isActive[step.target] = 1;
                    active.push_back(step.target);
                }
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    next[step.target][lane] += walks[lane] * step.weight;
                }
            }
        }
        for (const uint32_t node : active)
        {
            m_isActive[node] = 0;
            for (std::size_t lane = 0; lane < LANES; ++lane)
            {
                m_wanted[node][lane] += next[node][lane];
            }
        }
    }

    /// Adds the loads of the links that are taken after some number of hops.
    COSIM_FASTEST void Collect(uint32_t hop, std::span<double> loads)
    {
        const Lanes* here = &m_from[hop * m_nodes];
        for (const uint32_t node : m_active[hop])
        {
            const Lanes walks = here[node];
            Lanes demand = m_wanted[node];
            for (const auto& step : m_links.GetOutLinks(node))
            {
                Lanes load;
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    const double flow = step.weight * m_after[step.target][lane];
                    load[lane] = walks[lane] * flow;
                    demand[lane] += flow;
                }
                for (std::size_t half = LANES / 2; half > 0; half /= 2)
                {
                    for (std::size_t lane = 0; lane < half; ++lane)
                    {
                        load[lane] += load[lane + half];
                    }
                }
                loads[step.linkClass] += load[0];
            }
            m_before[node] = demand;
        }
    }

    const WeightedLinks& m_links;
    std::size_t m_nodes;
    uint32_t m_hops;
    std::vector<Lanes> m_from;                   //!< by hop and node, the sum of walks to it
    std::vector<std::vector<uint32_t>> m_active; //!< by hop, the nodes that walks reach
    std::vector<uint8_t> m_isActive;             //!< for each node, whether it is in the next list
    std::vector<Lanes> m_wanted;                 //!< for each node, its demand by root
    std::vector<Lanes> m_after;  //!< for each node, the demand of all walks that start there
    std::vector<Lanes> m_before; //!< the same one hop earlier
};

} // namespace

std::vector<double>
WalkLoads(const LinkView& links,
          std::span<const uint32_t> roots,
          std::span<const double> weight,
          uint32_t hops)
{
    const WeightedLinks steps(links, weight);
    std::vector<double> loads(weight.size());
    Walks walks(steps, hops);
    for (std::size_t first = 0; first < roots.size(); first += LANES)
    {
        walks.Run(roots.subspan(first, std::min(LANES, roots.size() - first)), loads);
    }
    return loads;
}

} // namespace cosim
