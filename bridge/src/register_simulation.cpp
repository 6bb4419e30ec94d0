/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "read_bytes.h"
#include "register.h"
#include "simulation/simulation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <stdexcept>

namespace py = pybind11;
using namespace py::literals;

namespace
{

using Seconds = std::chrono::duration<double>;
using Report = std::optional<py::function>;

/// The longest wall time between two checks for Ctrl-C [s].
constexpr double SIGNAL_INTERVAL_S = 0.1;

/// Calls Python during a run, to check for Ctrl-C and to report the progress at the given interval.
class Reporter
{
  public:
    Reporter(const Report& report, double interval)
        : m_report(report),
          m_interval(interval)
    {
    }

    /// @return false if KeyboardInterrupt was raised; other exceptions pass through
    bool operator()(const cosim::RunProgress& progress)
    {
        const py::gil_scoped_acquire gil;
        try
        {
            if (PyErr_CheckSignals() != 0)
            {
                throw py::error_already_set();
            }
            const bool isLast = progress.deliveredBytes == progress.totalBytes;
            if (m_report && (isLast || progress.wallS >= m_next))
            {
                m_next = progress.wallS + m_interval;
                (*m_report)(progress);
            }
        }
        catch (const py::error_already_set& error)
        {
            if (!error.matches(PyExc_KeyboardInterrupt))
            {
                throw;
            }
            return false;
        }
        return true;
    }

  private:
    const Report& m_report;
    double m_interval;
    double m_next{0};
};

std::string
Run(cosim::Simulation& simulation, const Report& report, double interval)
{
    if (!std::isfinite(interval) || interval < 0)
    {
        throw std::invalid_argument("interval_s is " + std::to_string(interval) +
                                    ", but a finite number of seconds, at least 0, is expected");
    }
    Reporter reporter(report, interval);
    const py::gil_scoped_release release;
    return simulation.Run([&reporter](const cosim::RunProgress& p) { return reporter(p); },
                          Seconds(std::min(interval, SIGNAL_INTERVAL_S)));
}

} // namespace

void
register_simulation(py::module_& module)
{
    using cosim::RunProgress;
    using cosim::Simulation;

    py::class_<RunProgress>(module, "Progress", "A snapshot of the progress of a run.")
        .def_readonly("time_ns", &RunProgress::timeNs)
        .def_readonly("wall_s", &RunProgress::wallS)
        .def_readonly("events", &RunProgress::events)
        .def_readonly("packets", &RunProgress::packets)
        .def_readonly("delivered_bytes", &RunProgress::deliveredBytes)
        .def_readonly("total_bytes", &RunProgress::totalBytes);

    py::class_<Simulation>(module, "Simulation", "One run of a stream.")
        .def(py::init([](const py::bytes& stream) {
                 return std::make_unique<Simulation>(read_bytes(stream));
             }),
             "stream"_a)
        .def("build", &Simulation::Build)
        .def("run", &Run, "progress"_a = py::none(), "interval_s"_a = 0.25)
        .def("result", &Simulation::GetResult)
        .def("close", &Simulation::Close);
}
