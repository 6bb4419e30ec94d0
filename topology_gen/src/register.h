/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef COSIM_KERNEL_REGISTER_H
#define COSIM_KERNEL_REGISTER_H

#include <cstddef>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <span>
#include <vector>

namespace cosim
{

/// A NumPy array as an argument; lists and other types are converted.
template <typename T>
using Array = pybind11::array_t<T, pybind11::array::c_style | pybind11::array::forcecast>;

/// @return the numbers of an array, which must outlive the span
template <typename T>
std::span<const T>
view(const Array<T>& array)
{
    return {array.data(), static_cast<std::size_t>(array.size())};
}

/// @return a NumPy array with a copy of numbers
template <typename T>
pybind11::array_t<T>
copied(const std::vector<T>& values)
{
    return pybind11::array_t<T>(static_cast<pybind11::ssize_t>(values.size()), values.data());
}

/// Add the functions of schedules to the module.
void register_schedules(pybind11::module_& module);

/// Add the functions of the lowering to the module.
void register_lowering(pybind11::module_& module);

/// Add the functions of graphs to the module.
void register_graphs(pybind11::module_& module);

} // namespace cosim

#endif // COSIM_KERNEL_REGISTER_H
