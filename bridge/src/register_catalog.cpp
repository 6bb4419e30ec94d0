/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "fabric.h"
#include "register.h"
#include "tcp-defaults.h"

#include <pybind11/stl.h>

namespace py = pybind11;

void
register_catalog(py::module_& module)
{
    module.def("ns3_version", [] { return COSIM_NS3_VERSION; });
    module.def("fabrics", &cosim::FabricNames);
    module.def("congestion_controls", &cosim::CongestionControlNames);
}
