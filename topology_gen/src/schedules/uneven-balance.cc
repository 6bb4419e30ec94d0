/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "schedules/uneven-balance.h"

#include "graphs/max-flow.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace cosim
{

namespace
{
/// Number of bisections of the time, after which only rounding is left.
constexpr int ROUNDS = 60;
} // namespace

std::vector<int64_t>
UnevenBalance::Run() const
{
    const auto groups = static_cast<uint32_t>(chunks.size());
    const auto links = static_cast<uint32_t>(latency.size());
    if (begin.size() != chunks.size() + 1 || begin.front() != 0 || begin.back() != link.size() ||
        chunkTime.size() != latency.size() || !std::ranges::is_sorted(begin, std::less_equal<>{}) ||
        std::ranges::any_of(link, [links](uint32_t number) { return number >= links; }))
    {
        throw std::invalid_argument("expected at least one link for each group of chunks");
    }
    // Nodes: the groups, the links, the origin and the end. Arcs: first group to link, then link to
    // end, then origin to group.
    const uint32_t origin = groups + links;
    const uint32_t end = origin + 1;
    MaxFlow flow(end + 1);
    for (uint32_t group = 0; group < groups; ++group)
    {
        for (uint32_t arc = begin[group]; arc < begin[group + 1]; ++arc)
        {
            flow.AddArc(group, groups + link[arc], chunks[group]);
        }
    }
    const uint32_t ends = flow.GetArcs();
    for (uint32_t number = 0; number < links; ++number)
    {
        flow.AddArc(groups + number, end, 0);
    }
    for (uint32_t group = 0; group < groups; ++group)
    {
        flow.AddArc(origin, group, chunks[group]);
    }
    const int64_t wanted = std::reduce(chunks.begin(), chunks.end());
    const auto suffices = [&](double time) {
        for (uint32_t number = 0; number < links; ++number)
        {
            const double room = std::clamp((time - latency[number]) / chunkTime[number],
                                           0.0,
                                           static_cast<double>(wanted));
            flow.SetCapacity(ends + number, static_cast<int64_t>(room));
        }
        return flow.Run(origin, end, wanted) == wanted;
    };

    double low = 0;
    double high = 0;
    for (uint32_t number = 0; number < links; ++number)
    {
        high =
            std::max(high, latency[number] + static_cast<double>(wanted + 1) * chunkTime[number]);
    }
    for (int round = 0; round < ROUNDS; ++round)
    {
        const double middle = (low + high) / 2;
        (suffices(middle) ? high : low) = middle;
    }
    suffices(high);
    std::vector<int64_t> result;
    for (uint32_t arc = 0; arc < ends; ++arc)
    {
        result.push_back(flow.GetFlow(arc));
    }
    return result;
}

} // namespace cosim
