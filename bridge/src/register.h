/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_REGISTER_H
#define COSIM_REGISTER_H

#include <pybind11/pybind11.h>

// Each function adds one topic to the module `bridge._core`. _core.pyi declares the Python side.

void register_errors(pybind11::module_& module);
void register_catalog(pybind11::module_& module);
void register_simulation(pybind11::module_& module);
void register_network(pybind11::module_& module);

#endif // COSIM_REGISTER_H
