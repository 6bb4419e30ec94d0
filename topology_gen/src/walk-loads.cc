/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "walk-loads.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace cosim
{

namespace
{

constexpr std::size_t LANES = 8; // number of roots that are processed at the same time

using Lanes = std::array<double, LANES>;

/// The data of a link, stored together.
struct Step
{
    uint32_t source;
    uint32_t target;
    uint32_t linkClass;
    double weight;
};

/// @return the links ordered by source, so that memory is read in order
std::vector<Step>
MakeSteps(const LinkView& links, std::span<const double> weight)
{
    std::vector<Step> steps;
    for (std::size_t link = 0; link < links.source.size(); ++link)
    {
        const uint32_t index = links.linkClass[link];
        if (links.source[link] >= links.nodes || links.target[link] >= links.nodes ||
            index >= weight.size())
        {
            throw std::invalid_argument("link " + std::to_string(link) +
                                        " names a node or a class that does not exist");
        }
        steps.push_back({links.source[link], links.target[link], index, weight[index]});
    }
    std::ranges::stable_sort(steps, {}, &Step::source);
    return steps;
}

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

} // namespace

std::vector<double>
WalkLoads(const LinkView& links,
          std::span<const uint32_t> roots,
          std::span<const double> weight,
          uint32_t hops)
{
    if (links.target.size() != links.source.size() || links.linkClass.size() != links.source.size())
    {
        throw std::invalid_argument("expected a target and a class for every link");
    }
    const std::vector<Step> steps = MakeSteps(links, weight);
    const std::size_t nodes = links.nodes;
    std::vector<double> loads(weight.size());
    std::vector<Lanes> from((hops + 1) * nodes); // for each hop and node, the sum of walks to it
    std::vector<Lanes> wanted(nodes);
    std::vector<Lanes> after(nodes); // for each node, the demand of all walks that start there
    std::vector<Lanes> before(nodes);
    for (std::size_t first = 0; first < roots.size(); first += LANES)
    {
        const auto some = roots.subspan(first, std::min(LANES, roots.size() - first));
        std::ranges::fill(from, Lanes{});
        std::ranges::fill(wanted, Lanes{});
        for (std::size_t lane = 0; lane < some.size(); ++lane)
        {
            if (some[lane] >= nodes)
            {
                throw std::invalid_argument("root " + std::to_string(some[lane]) +
                                            " is not a node");
            }
            from[some[lane]][lane] = 1;
        }
        for (uint32_t hop = 0; hop < hops; ++hop)
        {
            const Lanes* here = &from[hop * nodes];
            Lanes* next = &from[(hop + 1) * nodes];
            for (const Step& step : steps)
            {
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    next[step.target][lane] += here[step.source][lane] * step.weight;
                }
            }
            for (std::size_t node = 0; node < nodes; ++node)
            {
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    wanted[node][lane] += next[node][lane];
                }
            }
        }
        Invert(wanted, some);
        after = wanted;
        for (uint32_t hop = hops; hop-- > 0;)
        {
            const Lanes* here = &from[hop * nodes];
            before = wanted;
            for (const Step& step : steps)
            {
                double load = 0;
                for (std::size_t lane = 0; lane < LANES; ++lane)
                {
                    const double flow = step.weight * after[step.target][lane];
                    load += here[step.source][lane] * flow;
                    before[step.source][lane] += flow;
                }
                loads[step.linkClass] += load;
            }
            after.swap(before);
        }
    }
    return loads;
}

} // namespace cosim
