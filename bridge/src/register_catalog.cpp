/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "circuits/optical-circuits.h"
#include "clock/simulator-session.h"
#include "fabrics/registry.h"
#include "register.h"
#include "transport/tcp/tcp-defaults.h"

#include <map>
#include <pybind11/stl.h>
#include <utility>
#include <vector>

namespace py = pybind11;
using namespace py::literals;

namespace
{

/// @return the circuits for a demand, as pairs of source and target
std::vector<std::pair<uint32_t, uint32_t>>
ChooseCircuits(uint32_t ranks,
               uint32_t degree,
               uint32_t discount,
               bool forwarding,
               const std::map<std::pair<uint32_t, uint32_t>, double>& demand)
{
    std::vector<cosim::Demand> ordered;
    for (const auto& [pair, bytes] : demand)
    {
        ordered.push_back({{pair.first, pair.second}, bytes});
    }
    std::vector<std::pair<uint32_t, uint32_t>> result;
    for (const cosim::Circuit& circuit :
         cosim::ChooseCircuits(ranks,
                               degree,
                               static_cast<cosim::Discount>(discount),
                               forwarding,
                               ordered))
    {
        result.emplace_back(circuit.source, circuit.target);
    }
    return result;
}

} // namespace

void
register_catalog(py::module_& module)
{
    module.def("ns3_version", [] { return COSIM_NS3_VERSION; });
    module.def("ns3_has_failed", &cosim::SimulatorSession::IsAbandoned);
    module.def("fabrics", &cosim::FabricNames);
    module.def("congestion_controls", &cosim::CongestionControlNames);
    module.def("optical_circuits",
               &ChooseCircuits,
               "ranks"_a,
               "degree"_a,
               "discount"_a,
               "forwarding"_a,
               "demand"_a);
}
