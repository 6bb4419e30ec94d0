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
#include <string_view>
#include <utility>
#include <vector>

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

/// @return a sink that hands text to a Python function, which returns the size of the file
cosim::TextSink
MakeSink(const py::function& sink)
{
    return [sink](std::string_view text) -> uint64_t {
        const py::gil_scoped_acquire gil;
        try
        {
            return sink(py::bytes(text.data(), text.size())).cast<uint64_t>();
        }
        catch (py::error_already_set& error)
        { // an exception must not pass through ns-3
            if (error.matches(PyExc_KeyboardInterrupt))
            {
                PyErr_SetInterrupt(); // the run notices it
                return 0;
            }
            error.discard_as_unraisable("the sink of a file");
            return UINT64_MAX;
        }
    };
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
        .def("record_critical_path", &Simulation::RecordCriticalPath)
        .def(
            "write_timeline",
            [](Simulation& simulation,
               const py::function& sink,
               std::vector<uint32_t> ranks,
               uint64_t startPs,
               uint64_t endPs,
               uint64_t limitBytes,
               uint64_t counterPs,
               uint32_t counterLinks,
               uint32_t counterFlows) {
                simulation.WriteTimeline({std::move(ranks),
                                          startPs,
                                          endPs,
                                          limitBytes,
                                          counterPs,
                                          counterLinks,
                                          counterFlows},
                                         MakeSink(sink));
            },
            "sink"_a,
            "ranks"_a,
            "start_ps"_a,
            "end_ps"_a,
            "limit_bytes"_a,
            "counter_ps"_a,
            "counter_links"_a,
            "counter_flows"_a)
        .def(
            "write_series",
            [](Simulation& simulation,
               const py::function& linkSink,
               const py::function& flowSink,
               uint64_t intervalPs,
               uint64_t limitBytes,
               const std::optional<uint32_t>& linkCount,
               std::vector<uint32_t> links,
               const std::optional<uint32_t>& flowCount) {
                simulation.WriteSeries({intervalPs,
                                        limitBytes,
                                        !linkCount,
                                        linkCount.value_or(0),
                                        std::move(links),
                                        !flowCount,
                                        flowCount.value_or(0)},
                                       MakeSink(linkSink),
                                       MakeSink(flowSink));
            },
            "link_sink"_a,
            "flow_sink"_a,
            "interval_ps"_a,
            "limit_bytes"_a,
            "link_count"_a,
            "links"_a,
            "flow_count"_a)
        .def("build", &Simulation::Build)
        .def("run", &Run, "progress"_a = py::none(), "interval_s"_a = 0.25)
        .def("result", &Simulation::GetResult)
        .def("tables",
             [](const Simulation& simulation) {
                 const cosim::ResultTables tables = simulation.GetTables();
                 py::dict texts;
                 texts["links"] = tables.links;
                 texts["flows"] = tables.flows;
                 texts["fct"] = tables.fct;
                 if (!tables.pauses.empty())
                 {
                     texts["pauses"] = tables.pauses;
                 }
                 return texts;
             })
        .def("close", &Simulation::Close);
}
