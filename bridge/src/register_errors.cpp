/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "clock/simulator-session.h"
#include "register.h"

namespace py = pybind11;

void
register_errors(py::module_& module)
{
    // std::invalid_argument is a ValueError already.
    py::register_exception<cosim::CoreError>(module, "CoreError", PyExc_RuntimeError).doc() =
        "A simulation that cannot be run or has failed; the text is one sentence.";
}
