/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "read_bytes.h"
#include "register.h"
#include "simulation/network-session.h"

#include <cstdint>
#include <memory>
#include <pybind11/functional.h>
#include <string>
#include <utility>

namespace py = pybind11;
using namespace py::literals;

namespace
{

/// Throw the Python exception that a signal handler raised, such as KeyboardInterrupt.
void
CheckSignals()
{
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0)
    {
        throw py::error_already_set();
    }
}

/// @return a tag as 64 bits; a Python int can have any number of bits
uint64_t
ReadTag(const py::object& tag)
{
    const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(tag.ptr()));
    if (!number)
    {
        throw py::error_already_set();
    }
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr)
    {
        PyErr_Clear();
        throw py::value_error("the tag is " + std::string(py::str(number)) +
                              ", but 0 … 2^64 - 1 are accepted");
    }
    return value;
}

/// Call NetworkSession::Send or NetworkSession::Receive.
template <auto Method>
void
CallWithTag(cosim::NetworkSession& network,
            int64_t src,
            int64_t dst,
            int64_t bytes,
            const py::object& tag,
            cosim::NetworkSession::Callback callback)
{
    (network.*Method)(src, dst, bytes, ReadTag(tag), std::move(callback));
}

} // namespace

void
register_network(py::module_& module)
{
    using cosim::NetworkSession;

    // pybind11/functional.h takes the GIL for each callback and releases it afterwards.
    py::class_<NetworkSession>(module,
                               "Network",
                               "A session of the network API: messages with callbacks.")
        .def(py::init([](const py::bytes& stream) {
                 return std::make_unique<NetworkSession>(read_bytes(stream));
             }),
             "stream"_a)
        .def("sim_send",
             &CallWithTag<&NetworkSession::Send>,
             "src"_a,
             "dst"_a,
             "bytes"_a,
             "tag"_a = 0,
             "callback"_a = py::none())
        .def("sim_recv",
             &CallWithTag<&NetworkSession::Receive>,
             "src"_a,
             "dst"_a,
             "bytes"_a,
             "tag"_a = 0,
             "callback"_a = py::none())
        .def("sim_schedule", &NetworkSession::Schedule, "delay_ps"_a, "callback"_a)
        .def("sim_get_time", &NetworkSession::GetTimePs)
        .def("sim_comm_size", &NetworkSession::GetCommSize)
        .def("sim_finish", &NetworkSession::Finish)
        .def("run",
             [](NetworkSession& network) {
                 const py::gil_scoped_release release;
                 network.Run(&CheckSignals);
             })
        .def("statistics", &NetworkSession::GetStatistics)
        .def("close", &NetworkSession::Close);
}
