/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "graphs/capacities.h"
#include "graphs/exchange.h"
#include "graphs/hashed-paths.h"
#include "graphs/hop-distances.h"
#include "graphs/length-distances.h"
#include "graphs/numbered-paths.h"
#include "graphs/target-search.h"
#include "graphs/tree-loads.h"
#include "graphs/walk-loads.h"
#include "graphs/weighted-matching.h"
#include "register.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <pybind11/stl.h>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace cosim
{

namespace
{

py::tuple
tree_loads(uint32_t nodes,
           const Array<uint32_t>& source,
           const Array<uint32_t>& target,
           const Array<uint32_t>& roots,
           const Array<uint32_t>& linkClass,
           const Array<double>& length)
{
    const TreeLoads trees(nodes, view(source), view(target), view(linkClass), view(length));
    py::array_t<double> loads({roots.size(), length.size()});
    py::array_t<double> distances(roots.size());
    auto costs = distances.mutable_unchecked<1>();
    for (py::ssize_t i = 0; i < roots.size(); ++i)
    {
        const std::span row(loads.mutable_data(i, 0), static_cast<std::size_t>(length.size()));
        costs(i) = trees.Run(roots.at(i), row);
    }
    return py::make_tuple(loads, distances);
}

double
sum_distances(uint32_t nodes,
              const Array<uint32_t>& source,
              const Array<uint32_t>& target,
              const Array<uint32_t>& roots,
              const Array<uint32_t>& linkClass,
              const Array<double>& length)
{
    const LinkView links{nodes, view(source), view(target), view(linkClass)};
    return SumDistances(links, view(roots), view(length));
}

py::array_t<double>
walk_loads(uint32_t nodes,
           const Array<uint32_t>& source,
           const Array<uint32_t>& target,
           const Array<uint32_t>& roots,
           const Array<uint32_t>& linkClass,
           const Array<double>& weight,
           uint32_t hops)
{
    const LinkView links{nodes, view(source), view(target), view(linkClass)};
    const auto loads = WalkLoads(links, view(roots), view(weight), hops);
    return copied(loads);
}

py::tuple
distances(uint32_t nodes,
          const Array<uint32_t>& source,
          const Array<uint32_t>& target,
          const Array<uint32_t>& roots)
{
    const LinkTable outLinks(nodes, view(target), view(source));
    const auto [greatest, sum] = FindDistances(outLinks, view(roots));
    return py::make_tuple(greatest, sum);
}

py::tuple
rule_distances(uint32_t nodes, const Array<uint32_t>& target, uint32_t roots)
{
    const auto [greatest, sum] = FindRuleDistances(nodes, view(target), roots);
    return py::make_tuple(greatest, sum);
}

/// Pairs of nodes whose paths are wanted; those with the same target follow each other.
struct WantedPaths
{
    const Array<uint32_t>& from;
    const Array<uint32_t>& to;
    const Array<uint32_t>& end; //!< for each pair, the place at which its paths end
};

/**
 * Search the paths of all pairs.
 *
 * @param onSearch called after the search of each target
 * @param follow called for each pair with its index; appends the links of its path
 * @return per pair the number of its links, and the links of one pair after another
 */
template <typename OnSearch, typename Follow>
py::tuple
follow_all(TargetSearch& search,
           const WantedPaths& wanted,
           const OnSearch& onSearch,
           const Follow& follow)
{
    const std::span<const uint32_t> from = view(wanted.from);
    const std::span<const uint32_t> to = view(wanted.to);
    std::vector<int64_t> hops(to.size());
    std::vector<uint32_t> found;
    for (std::size_t begin = 0, end = 0; begin < to.size(); begin = end)
    {
        while (end < to.size() && to[end] == to[begin])
        {
            ++end;
        }
        search.Run(view(wanted.end)[begin], from.subspan(begin, end - begin));
        onSearch();
        for (std::size_t i = begin; i < end; ++i)
        {
            if (std::isinf(search.GetCost(from[i])))
            {
                throw std::invalid_argument("there is no path from node " +
                                            std::to_string(from[i]) + " to node " +
                                            std::to_string(to[i]));
            }
            const std::size_t before = found.size();
            follow(i, found);
            hops[i] = static_cast<int64_t>(found.size() - before);
        }
    }
    return py::make_tuple(copied(hops), copied(found));
}

py::tuple
hashed_paths(std::size_t nodes,
             std::size_t places,
             const Array<uint32_t>& source,
             const Array<uint32_t>& target,
             const Array<uint32_t>& place,
             const Array<double>& cost,
             const Array<uint32_t>& from,
             const Array<uint32_t>& to,
             const Array<uint32_t>& end,
             const Array<uint64_t>& route,
             uint64_t salt)
{
    TargetSearch search({nodes, places, view(source), view(target), view(place), view(cost)});
    HashedPaths paths(search, salt);
    return follow_all(
        search,
        {from, to, end},
        [] {},
        [&](std::size_t i, std::vector<uint32_t>& found) {
            paths.Follow(view(from)[i], view(to)[i], view(route)[i], found);
        });
}

py::tuple
numbered_paths(std::size_t nodes,
               std::size_t places,
               const Array<uint32_t>& source,
               const Array<uint32_t>& target,
               const Array<uint32_t>& place,
               const Array<double>& cost,
               const Array<uint32_t>& from,
               const Array<uint32_t>& to,
               const Array<uint32_t>& end,
               const Array<int64_t>& first,
               const Array<int64_t>& turn,
               int64_t turns)
{
    TargetSearch search({nodes, places, view(source), view(target), view(place), view(cost)});
    NumberedPaths paths(search);
    return follow_all(
        search,
        {from, to, end},
        [&] { paths.Count(); },
        [&](std::size_t i, std::vector<uint32_t>& found) {
            const uint32_t node = view(from)[i];
            const int64_t number =
                paths.GetNumber(node, view(first)[i], view(turn)[i] % turns, turns);
            paths.Follow(node, view(to)[i], number, found);
        });
}

/// Servers, first and last samples, and first and last bytes; see Boxes.
using BoxArrays = std::array<Array<int64_t>, 5>;

Boxes
boxes_of(const BoxArrays& arrays)
{
    return {view(arrays[0]), view(arrays[1]), view(arrays[2]), view(arrays[3]), view(arrays[4])};
}

py::tuple
participants(const BoxArrays& has, const BoxArrays& needs)
{
    const Participants found = FindParticipants({boxes_of(has), boxes_of(needs)});
    return py::make_tuple(found.messages, copied(found.sends), copied(found.receives));
}

double
add_loads(const BoxArrays& has,
          const BoxArrays& needs,
          const std::tuple<Array<uint32_t>, Array<uint32_t>, Array<double>, Array<double>>& paths,
          const std::tuple<int64_t, int64_t>& place,
          const std::tuple<int64_t, int64_t, int64_t, int64_t>& sending,
          const Array<double>& rates,
          py::array_t<double, py::array::c_style>& loads)
{
    const auto& [begin, links, propagation, stored] = paths;
    const auto& [sources, first] = place;
    const auto& [segment, header, route, routes] = sending;
    return AddLoads({boxes_of(has), boxes_of(needs)},
                    {view(begin), view(links), view(propagation), view(stored), sources, first},
                    {segment, header, route, routes},
                    view(rates),
                    {loads.mutable_data(), static_cast<std::size_t>(loads.size())});
}

py::tuple
heaviest_matching(int32_t nodes,
                  const Array<int32_t>& first,
                  const Array<int32_t>& second,
                  const Array<int64_t>& weight)
{
    WeightedMatching matching(nodes, view(first), view(second), view(weight));
    {
        const py::gil_scoped_release release;
        matching.Run();
    }
    const auto mates = matching.GetMates();
    const auto duals = matching.GetDuals();
    return py::make_tuple(py::array_t<int32_t>(static_cast<py::ssize_t>(nodes), mates.data()),
                          py::array_t<int64_t>(static_cast<py::ssize_t>(nodes), duals.data()));
}

py::object
tightest_cut(uint32_t nodes,
             const Array<uint32_t>& source,
             const Array<uint32_t>& target,
             const Array<int64_t>& capacity,
             const Array<int64_t>& supply,
             uint32_t receivers)
{
    const Capacities graph{nodes, view(source), view(target), view(capacity)};
    Cut cut;
    {
        const py::gil_scoped_release release;
        cut = FindTightestCut(graph, view(supply), receivers);
    }
    if (cut.suffices)
    {
        return py::none();
    }
    return copied(cut.side);
}

} // namespace

void
register_graphs(py::module_& module)
{
    module.def("participants", &participants);
    module.def("add_loads",
               &add_loads,
               py::arg("has"),
               py::arg("needs"),
               py::arg("paths"),
               py::arg("place"),
               py::arg("sending"),
               py::arg("rates"),
               py::arg("loads").noconvert());
    module.def("heaviest_matching", &heaviest_matching);
    module.def("distances", &distances);
    module.def("rule_distances", &rule_distances);
    module.def("sum_distances", &sum_distances);
    module.def("hashed_paths", &hashed_paths);
    module.def("numbered_paths", &numbered_paths);
    module.def("tree_loads", &tree_loads);
    module.def("walk_loads", &walk_loads);
    module.def("tightest_cut", &tightest_cut);
}

} // namespace cosim
