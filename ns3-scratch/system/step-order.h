/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_STEP_ORDER_H
#define COSIM_STEP_ORDER_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace cosim
{

/**
 * Order steps as they become ready if every message takes the same time.
 *
 * A step becomes ready when all steps before it have been visited. Steps that run at about the same
 * time are then next to each other in memory, whichever member they belong to.
 *
 * @param before per step: number of steps and messages that it waits for
 * @param forEachAfter calls its second argument with each step that waits for a step or for one of
 * its messages, once for each time that it is counted in `before`
 * @return per step: its place in this order. Steps that wait for each other come last, in their old
 * order.
 */
template <typename ForEachAfter>
std::vector<uint32_t>
OrderByReadiness(std::vector<uint32_t> before, const ForEachAfter& forEachAfter)
{
    constexpr uint32_t UNKNOWN = ~uint32_t{0};
    const auto steps = static_cast<uint32_t>(before.size());
    std::vector<uint32_t> order; // the steps in the order of visits
    order.reserve(steps);
    for (uint32_t step = 0; step < steps; ++step)
    {
        if (before[step] == 0)
        {
            order.push_back(step);
        }
    }
    for (std::size_t visited = 0; visited < order.size(); ++visited)
    {
        forEachAfter(order[visited], [&before, &order](uint32_t after) {
            if (--before[after] == 0)
            {
                order.push_back(after);
            }
        });
    }
    std::vector<uint32_t> place(steps, UNKNOWN);
    uint32_t next = 0;
    for (const uint32_t step : order)
    {
        place[step] = next++;
    }
    for (uint32_t& one : place)
    {
        if (one == UNKNOWN)
        {
            one = next++;
        }
    }
    return place;
}

/**
 * Move some steps behind all others. The order stays the same among them, and among the others.
 *
 * @param place per step: its place, which this changes
 * @param isLast called with a step
 */
template <typename IsLast>
void
MoveToEnd(std::vector<uint32_t>& place, const IsLast& isLast)
{
    std::vector<uint32_t> stepAt(place.size());
    for (uint32_t step = 0; step < place.size(); ++step)
    {
        stepAt[place[step]] = step;
    }
    std::stable_partition(stepAt.begin(), stepAt.end(), [&isLast](uint32_t step) {
        return !isLast(step);
    });
    for (uint32_t at = 0; at < place.size(); ++at)
    {
        place[stepAt[at]] = at;
    }
}

/**
 * Move values to new places.
 *
 * @param values the values
 * @param place per value: its new index
 */
template <typename T>
void
MoveTo(std::span<T> values, const std::vector<uint32_t>& place)
{
    std::vector<bool> isMoved(values.size()); // one bit a value: a copy of all can be large
    for (std::size_t first = 0; first < values.size(); ++first)
    {
        T carried = values[first];
        for (std::size_t at = first; !isMoved[at];)
        {
            isMoved[at] = true;
            at = place[at];
            std::swap(carried, values[at]);
        }
    }
}

} // namespace cosim

#endif // COSIM_STEP_ORDER_H
