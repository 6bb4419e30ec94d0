/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "register.h"

namespace py = pybind11;

void
register_errors(py::module_& module)
{
    // pybind11 already turns std::invalid_argument into ValueError.
    py::register_exception<cosim::CoreError>(module, "CoreError", PyExc_RuntimeError).doc() =
        "A stream that cannot be run, or a simulation that failed. The message is one sentence.";
}
