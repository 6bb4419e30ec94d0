/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "chakra-decoder.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string_view>
#include <type_traits>
#include <utility>

namespace py = pybind11;

namespace
{

/// Transfers a vector to a NumPy array, which frees it.
template <typename T>
py::array
owned(std::vector<T>&& values)
{
    using Number = typename std::
        conditional_t<std::is_enum_v<T>, std::underlying_type<T>, std::type_identity<T>>::type;
    auto* kept = new std::vector<T>(std::move(values));
    const py::capsule owner(kept,
                            [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
    const auto* data = reinterpret_cast<const Number*>(kept->data());
    return py::array_t<Number>(static_cast<py::ssize_t>(kept->size()), data, owner);
}

py::dict
decode_chakra(const py::bytes& data,
              const std::vector<std::string>& numbers,
              const std::vector<std::string>& texts,
              bool control)
{
    const auto bytes = static_cast<std::string_view>(data);
    cosim::ChakraDecoder trace({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                               numbers,
                               texts,
                               control);
    py::dict number_columns;
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
        cosim::NumberColumn& column = trace.attributes.GetNumbers()[i];
        number_columns[py::str(numbers[i])] =
            py::make_tuple(owned(std::move(column.values)), owned(std::move(column.presence)));
    }
    py::dict text_columns;
    for (std::size_t i = 0; i < texts.size(); ++i)
    {
        text_columns[py::str(texts[i])] = owned(std::move(trace.attributes.GetTexts()[i]));
    }
    py::dict result;
    result["version"] = trace.version;
    result["id"] = owned(std::move(trace.id));
    result["type"] = owned(std::move(trace.type));
    result["name"] = trace.name;
    result["duration_micros"] = owned(std::move(trace.duration));
    result["dep_begin"] = owned(std::move(trace.depBegin));
    result["dep"] = owned(std::move(trace.dep));
    result["numbers"] = number_columns;
    result["texts"] = text_columns;
    result["table"] = trace.attributes.GetTable();
    result["inputs"] = trace.inputs;
    return result;
}

} // namespace

PYBIND11_MODULE(_decoder, module)
{
    module.doc() = "Reads execution traces (private; see frontend.formats.chakra).";
    module.def("decode_chakra",
               &decode_chakra,
               py::arg("data"),
               py::arg("numbers"),
               py::arg("texts"),
               py::arg("control"));
}
