/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "register.h"

PYBIND11_MODULE(_kernels, module)
{
    module.doc() = "The compiled module: loops over all pairs of nodes.";
    cosim::register_lowering(module);
    cosim::register_schedules(module);
    cosim::register_graphs(module);
}
