/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "register.h"
#include "schedules/bfb.h"
#include "schedules/chunk-shares.h"
#include "schedules/replay.h"
#include "schedules/shallow-trees.h"
#include "schedules/switch-removal.h"
#include "schedules/tree-packing.h"
#include "schedules/uneven-balance.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace cosim
{

namespace
{

/// Transfers memory to a NumPy array, which frees it.
py::array_t<uint32_t>
owned(std::unique_ptr<uint32_t[]> values, std::size_t size)
{
    uint32_t* data = values.release();
    const py::capsule owner(data, [](void* memory) { delete[] static_cast<uint32_t*>(memory); });
    return py::array_t<uint32_t>(static_cast<py::ssize_t>(size), data, owner);
}

py::tuple
least_loads(const Bfb& bfb, uint32_t roots)
{
    // The shape is (step, root), so that the maximum of a step is that of a row.
    const py::array::ShapeContainer shape{static_cast<py::ssize_t>(bfb.GetSteps()),
                                          static_cast<py::ssize_t>(roots)};
    py::array_t<uint32_t> numerator(shape);
    py::array_t<uint32_t> denominator(shape);
    auto numerators = numerator.mutable_unchecked<2>();
    auto denominators = denominator.mutable_unchecked<2>();
    for (uint32_t root = 0; root < roots; ++root)
    {
        for (uint32_t step = 0; step < bfb.GetSteps(); ++step)
        {
            const auto& load = bfb.GetLeastLoads()[bfb.GetPattern(root, step + 1)];
            numerators(step, root) = static_cast<uint32_t>(load.numerator);
            denominators(step, root) = static_cast<uint32_t>(load.denominator);
        }
    }
    return py::make_tuple(numerator, denominator);
}

py::tuple
bfb_sends(const Bfb& bfb, uint32_t chunks)
{
    Sends sends;
    {
        const py::gil_scoped_release release;
        sends = bfb.MakeSends(chunks);
    }
    const std::size_t total = sends.stepBegin.back();
    const py::array_t<uint64_t> stepBegin(static_cast<py::ssize_t>(sends.stepBegin.size()),
                                          sends.stepBegin.data());
    return py::make_tuple(stepBegin,
                          owned(std::move(sends.link), total),
                          owned(std::move(sends.shard), total),
                          owned(std::move(sends.first), total),
                          owned(std::move(sends.count), total));
}

py::tuple
layers(uint32_t nodes, const Array<uint32_t>& source, const Array<uint32_t>& target, uint32_t root)
{
    const LinkTable links(nodes, view(source), view(target));
    if (root >= nodes)
    {
        throw py::index_error("root " + std::to_string(root) + " is not a node");
    }
    BackwardSearch search(links);
    search.Run(root);
    py::list result;
    for (uint32_t step = 1; step <= search.GetDepth(); ++step)
    {
        py::list groups;
        for (const auto& group : search.FindGroups(step))
        {
            py::list members;
            for (uint32_t link = 0; link < 64 * search.GetWords(); ++link)
            {
                if ((group.mask[link / 64] >> (link % 64) & 1) != 0)
                {
                    members.append(links.GetInLinks(root)[link].link);
                }
            }
            groups.append(py::make_tuple(members, group.nodes));
        }
        result.append(groups);
    }
    return py::tuple(result);
}

py::tuple
share_chunks(const Array<uint32_t>& pairBegin,
             const Array<uint32_t>& useBegin,
             const Array<uint32_t>& kind,
             const Array<uint32_t>& times,
             uint32_t kinds,
             const Array<uint32_t>& given,
             const Array<uint8_t>& isRounded,
             uint32_t chunks,
             uint32_t rounds)
{
    if (isRounded.size() != given.size())
    {
        throw std::invalid_argument("expected to know of every path whether it was rounded");
    }
    ChunkShares shares({view(pairBegin), view(useBegin), view(kind), view(times)},
                       kinds,
                       view(given));
    shares.GiveRest(view(isRounded), chunks);
    shares.Level(rounds);
    const auto& result = shares.GetGiven();
    return py::make_tuple(copied(result), shares.GetGreatestLoad());
}

py::array_t<uint64_t>
replay(uint32_t nodes,
       const Array<uint32_t>& source,
       const Array<uint32_t>& target,
       uint32_t chunks,
       const Array<uint64_t>& stepBegin,
       const Array<uint32_t>& link,
       const Array<uint32_t>& shard,
       const Array<uint32_t>& first,
       const Array<uint32_t>& count,
       const Array<uint32_t>& owners,
       bool isReduction)
{
    const SendView sends{view(stepBegin), view(link), view(shard), view(first), view(count)};
    const auto loads =
        Replay({nodes, view(source), view(target)}, chunks, sends, view(owners), isReduction);
    return copied(loads);
}

py::list
listed(const std::vector<Tree>& trees)
{
    py::list result;
    for (const auto& tree : trees)
    {
        result.append(py::make_tuple(tree.root, tree.weight, py::cast(tree.links)));
    }
    return result;
}

py::list
pack_trees(uint32_t nodes,
           const Array<uint32_t>& source,
           const Array<uint32_t>& target,
           const Array<int64_t>& capacity,
           const Array<int64_t>& wanted)
{
    std::vector<Tree> trees;
    {
        const py::gil_scoped_release release;
        trees =
            TreePacking({nodes, view(source), view(target), view(capacity)}, view(wanted)).Run();
    }
    return listed(trees);
}

std::optional<py::list>
shallow_trees(uint32_t nodes,
              const Array<uint32_t>& source,
              const Array<uint32_t>& target,
              const Array<int64_t>& capacity,
              const Array<int64_t>& wanted)
{
    std::optional<std::vector<Tree>> trees;
    {
        const py::gil_scoped_release release;
        trees = FindShallowTrees({nodes, view(source), view(target), view(capacity)}, view(wanted));
    }
    return trees ? std::optional(listed(*trees)) : std::nullopt;
}

py::array_t<int64_t>
balance_uneven(const Array<uint32_t>& begin,
               const Array<uint32_t>& links,
               const Array<int64_t>& chunks,
               const Array<double>& latency,
               const Array<double>& chunkTime)
{
    const UnevenBalance problem{view(begin),
                                view(links),
                                view(chunks),
                                view(latency),
                                view(chunkTime)};
    const auto amounts = problem.Run();
    return copied(amounts);
}

py::list
remove_switches(uint32_t nodes,
                const Array<uint32_t>& source,
                const Array<uint32_t>& target,
                const Array<int64_t>& capacity,
                const Array<int64_t>& supply,
                uint32_t ranks)
{
    std::vector<Channel> channels;
    {
        const py::gil_scoped_release release;
        channels =
            SwitchRemoval({nodes, view(source), view(target), view(capacity)}, view(supply), ranks)
                .Run();
    }
    py::list result;
    for (const auto& channel : channels)
    {
        result.append(py::make_tuple(channel.source,
                                     channel.target,
                                     channel.capacity,
                                     py::cast(channel.links)));
    }
    return result;
}

} // namespace

void
register_schedules(py::module_& module)
{
    py::class_<Bfb>(module, "Bfb")
        .def(py::init([](uint32_t nodes,
                         const Array<uint32_t>& source,
                         const Array<uint32_t>& target,
                         uint32_t roots) {
            return std::make_unique<Bfb>(LinkTable(nodes, view(source), view(target)), roots);
        }))
        .def_property_readonly("steps", &Bfb::GetSteps)
        .def_property_readonly("distance_sum", &Bfb::GetDistanceSum)
        .def("least_loads", &least_loads)
        .def("sends", &bfb_sends);
    module.def("layers", &layers);
    module.def("replay", &replay);
    module.def("share_chunks", &share_chunks);
    module.def("pack_trees", &pack_trees);
    module.def("shallow_trees", &shallow_trees);
    module.def("remove_switches", &remove_switches);
    module.def("balance_uneven", &balance_uneven);
}

} // namespace cosim
