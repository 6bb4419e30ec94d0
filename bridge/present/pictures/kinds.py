"""The kinds of pictures that ``cosim plot`` draws of one or several results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bridge.errors import InputError
from bridge.present.metrics import METRICS
from bridge.present.pictures import charts, job_charts
from bridge.present.pictures.chart import Chart
from bridge.present.pictures.chart_picture import draw_chart
from bridge.present.pictures.charts import ALL, Window, sweep_chart
from bridge.present.pictures.links import link_heat, link_map
from bridge.present.pictures.rank_timeline import timeline
from bridge.present.pictures.waterfall import waterfall_chart
from bridge.results.result import Result

Results = Mapping[str, Result]
"""Results by the names that a picture gives them."""


@dataclass(frozen=True)
class View:
    """What a picture shows of the results. Each kind has its own choices."""

    x: str | None = None
    """Key of the scenario on the horizontal axis."""
    y: str = "time"
    """Name of the metric on the vertical axis."""
    by: str | None = None
    """Key of the scenario whose values have a curve each."""
    ranks: tuple[int, ...] = ()
    """Ranks to show; none: the first ones."""
    window: Window = ALL
    """Time window to show."""


@dataclass(frozen=True)
class PictureKind:
    """A kind of picture."""

    description: str
    """A few words."""
    draw: Callable[[Results, View, Path], None]
    """Draws some results; raises `InputError` if they lack what the picture shows."""
    choices: tuple[str, ...] = ()
    """The fields of a `View` that it uses."""


def _kind(
    description: str,
    make: Callable[[Results, View], Chart | None],
    needs: str,
    choices: tuple[str, ...] = (),
) -> PictureKind:
    """Return a kind that draws a chart; `needs` says what results without the chart lack."""

    def draw(results: Results, view: View, file: Path) -> None:
        chart = make(results, view)
        if chart is None:
            raise InputError(f"the results have nothing to plot, expected {needs}")
        draw_chart(chart, file)

    return PictureKind(description, draw, choices)


def _of_all(make: Callable[[Results], Chart | None]) -> Callable[[Results, View], Chart | None]:
    return lambda results, view: make(results)


def _of_one(make: Callable[[Result], Chart | None]) -> Callable[[Results, View], Chart | None]:
    return lambda results, view: make(_single(results))


def _over_time(
    make: Callable[[Result, Window], Chart | None],
) -> Callable[[Results, View], Chart | None]:
    return lambda results, view: make(_single(results), view.window)


def _single(results: Results) -> Result:
    if len(results) > 1:
        raise InputError(f"a picture of this kind shows one result, not {len(results)}")
    return next(iter(results.values()))


def _links(result: Result) -> Chart | None:
    links = link_map(result)
    title = f"{result.name}: links by utilization"
    return None if links is None else link_heat("links", title, links)


def _topology(results: Results, view: View, file: Path) -> None:
    from bridge.present.pictures.graph_picture import draw_graph, draw_network
    from frontend import load_scenario
    from frontend.resolve import resolve

    scenario = load_scenario(_single(results).scenario)
    resolved = resolve(scenario)
    graph, network = resolved.layout.graph, resolved.network
    if graph is not None and network.nodes == network.ranks:
        draw_graph(graph, file)
    else:
        draw_network(network, scenario.name, file)


_SERIES = "time series, which `outputs.series` in the scenario asks for"


def _series(
    description: str, make: Callable[[Result, Window], Chart | None], needs: str = _SERIES
) -> PictureKind:
    """Return a kind that shows one result over time, or a time window of it."""
    return _kind(f"{description} (--window)", _over_time(make), needs, ("window",))


KINDS = {
    "layers": _kind("the time of each layer", _of_all(charts.layers), "layers"),
    "iteration": _kind(
        "compute and exposed communication by what it is for",
        _of_all(charts.iteration_parts),
        "iterations with computation",
    ),
    "waterfall": _kind(
        "what an iteration is spent on, from the peak rate down to the MFU",
        _of_one(waterfall_chart),
        "iterations with computation",
    ),
    "busbw": _kind(
        "bus bandwidth of collectives against size",
        _of_all(charts.bus_bandwidths),
        "collectives",
    ),
    "critical-path": _kind(
        "what iterations wait for",
        _of_all(charts.critical_path),
        "a critical path, which `cosim run --critical-path` records",
    ),
    "fct": _kind(
        "completion times of messages, a distribution",
        _of_all(charts.completion_times),
        "fct.csv",
    ),
    "slowdown": _kind(
        "slowdown of flows, a distribution",
        _of_all(charts.slowdowns),
        "flows.csv with flows",
    ),
    "links": _kind("utilization of the links on the topology", _of_one(_links), "links.csv"),
    "queue": _series("queues of links over time", charts.queues),
    "throughput": _series("throughput of links over time", charts.throughput),
    "cwnd": _series("congestion windows over time", charts.windows),
    "rate": _series(
        "rates of queue pairs of RoCE over time",
        charts.rates,
        f"a transport of RoCE, and {_SERIES}",
    ),
    "pauses": _series(
        "when lossless switches paused which ports",
        charts.pauses,
        "pauses.csv with pauses, which lossless switches cause (switches.buffer_sharing: pfc)",
    ),
    "rtt": _series("round trips of flows over time", charts.round_trips),
    "timeline": _kind(
        "what ranks do over time (--ranks, --window)",
        lambda results, view: timeline(_single(results), view.ranks, view.window),
        "a timeline, which `cosim run --timeline` writes",
        ("ranks", "window"),
    ),
    "jobs": _kind(
        "when jobs wait and run", _of_one(job_charts.jobs), "jobs that ran to their ends"
    ),
    "cluster": _kind(
        "ranks with a job over time", _of_one(job_charts.occupancy), "jobs that ran to their ends"
    ),
    "topology": PictureKind("ranks, switches and links", _topology),
    "sweep": _kind(
        "a metric of many results (--x, --y, --by)",
        lambda results, view: sweep_chart(list(results.values()), view.x, METRICS[view.y], view.by),
        "results with the metric of --y",
        ("x", "y", "by"),
    ),
}
"""The kinds by name."""


def draw_layers(result: Result, file: Path) -> None:
    """Draw the time of each layer of a result.

    Raises
    ------
    InputError
        matplotlib is not installed, the extension names no picture format, or the result has no
        layers.
    """
    KINDS["layers"].draw({"": result}, View(), file)
