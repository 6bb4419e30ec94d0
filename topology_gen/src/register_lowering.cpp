/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "lowering/last-writers.h"
#include "lowering/step-lines.h"
#include "register.h"

#include <cstdint>
#include <pybind11/stl.h>
#include <string>
#include <vector>

namespace py = pybind11;

namespace cosim
{

namespace
{

py::tuple
last_writers(const Array<int64_t>& rank,
             const Array<int64_t>& read,
             const Array<int64_t>& write,
             const Array<int64_t>& count,
             int64_t width)
{
    const auto orders = LastWriters({view(rank), view(read), view(write), view(count)}, width);
    return py::make_tuple(copied(orders.reader), copied(orders.writer));
}

std::string
step_lines(const Array<int64_t>& steps,
           const std::vector<std::string>& kinds,
           const std::vector<std::string>& buffers)
{
    return StepLines(view(steps), kinds, buffers);
}

} // namespace

void
register_lowering(py::module_& module)
{
    module.def("last_writers", &last_writers);
    module.def("step_lines", &step_lines);
}

} // namespace cosim
