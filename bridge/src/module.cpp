/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "register.h"

PYBIND11_MODULE(_core, module)
{
    module.doc() = "The compiled module: the simulation and the network API over ns-3.";
    register_errors(module);
    register_catalog(module);
    register_simulation(module);
    register_network(module);
}
