/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "read_bytes.h"
#include "register.h"
#include "simulation/network-session.h"

#include <memory>
#include <pybind11/functional.h>

namespace py = pybind11;
using namespace py::literals;

namespace
{

/// Throws the Python exception that a signal handler raised, such as KeyboardInterrupt.
void
CheckSignals()
{
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0)
    {
        throw py::error_already_set();
    }
}

} // namespace

void
register_network(py::module_& module)
{
    using cosim::NetworkSession;

    // pybind11/functional.h takes the GIL for each callback and releases it afterwards.
    py::class_<NetworkSession>(module, "Network", "The network API: messages with callbacks.")
        .def(py::init([](const py::bytes& stream) {
                 return std::make_unique<NetworkSession>(read_bytes(stream));
             }),
             "stream"_a)
        .def("sim_send",
             &NetworkSession::Send,
             "src"_a,
             "dst"_a,
             "bytes"_a,
             "tag"_a = 0,
             "callback"_a = py::none())
        .def("sim_recv",
             &NetworkSession::Receive,
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
