"""The kinds of pictures that ``cosim plot`` draws of one or several results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bridge.errors import InputError
from bridge.present import charts
from bridge.present.charts import Chart
from bridge.present.figure import COLORS
from bridge.present.link_map import link_map
from bridge.present.metrics import METRICS
from bridge.results.result import Result


@dataclass(frozen=True)
class PictureKind:
    """A kind of picture."""

    description: str
    """A few words."""
    make: Callable[[Mapping[str, Result]], Chart | None]
    """Returns the chart of some results by their names; None if they lack what it shows."""
    needs: str
    """What the results lack if there is no chart."""


def _links(results: Mapping[str, Result]) -> Chart | None:
    if len(results) > 1:
        raise InputError("a picture of the links shows one result")
    [(name, result)] = results.items()
    links = link_map(result)
    return None if links is None else charts.link_heat("links", f"{name}: links", links)


KINDS = {
    "layers": PictureKind("the time of each layer", charts.layers, "layers"),
    "busbw": PictureKind(
        "bus bandwidth of collectives against size", charts.bus_bandwidths, "collectives"
    ),
    "critical-path": PictureKind(
        "what iterations wait for",
        charts.critical_path,
        "a critical path, which `cosim run --critical-path` records",
    ),
    "fct": PictureKind(
        "completion times of messages, a distribution", charts.completion_times, "fct.csv"
    ),
    "slowdown": PictureKind(
        "slowdown of flows, a distribution", charts.slowdowns, "flows.csv with flows"
    ),
    "links": PictureKind("utilization of the links on the topology", _links, "links.csv"),
}
"""The kinds by name."""


def picture(kind: str, results: Mapping[str, Result]) -> Chart:
    """Return the chart of a kind.

    Raises
    ------
    InputError
        The results lack what the chart shows.
    """
    chart = KINDS[kind].make(results)
    if chart is None:
        raise InputError(f"the results have nothing to plot, expected {KINDS[kind].needs}")
    return chart


def sweep_chart(results: Sequence[Result], x: str, y: str, by: str | None) -> Chart:
    """Return a metric of many results against a key of their scenarios.

    Parameters
    ----------
    results : sequence of Result
        The points of a sweep.
    x : str
        Key path of the horizontal axis, such as ``topology.bandwidth``.
    y : str
        Name of the metric, as in `bridge.present.metrics.METRICS`.
    by : str or None
        Key path whose values have a curve each; None draws one curve.

    Raises
    ------
    InputError
        A scenario has no such key, or no result has the metric.
    """
    metric = METRICS[y]
    curves: dict[str, list[tuple[Any, float]]] = {}
    for result in results:
        value = metric.value(result)
        if value is not None:
            name = "" if by is None else str(_key(result, by))
            curves.setdefault(name, []).append((_key(result, x), value))
    if not curves:
        raise InputError(f"no result has the metric {y}")
    order = sorted({_number(at) for points in curves.values() for at, _ in points})
    names = {_number(at): str(at) for points in curves.values() for at, _ in points}
    traces = [
        {
            "type": "scatter",
            "mode": mode,
            "name": name,
            "showlegend": by is not None and mode == "markers",
            "x": [order.index(_number(at)) for at, _ in sorted(points, key=_place)],
            "y": [value for _, value in sorted(points, key=_place)],
            "line": {"color": COLORS[number % len(COLORS)]},
            "marker": {"color": COLORS[number % len(COLORS)], "symbol": "circle"},
        }
        for number, (name, points) in enumerate(curves.items())
        for mode in ("lines", "markers")
    ]
    ticks = {"tickvals": list(range(len(order))), "ticktext": [names[at] for at in order]}
    layout = {
        "height": 330,
        "xaxis": {"title": {"text": x}, **ticks},
        "yaxis": {"title": {"text": metric.key}, "rangemode": "tozero"},
    }
    return Chart("sweep", f"{y} against {x}", traces, layout)


def _place(point: tuple[Any, float]) -> tuple[float, str]:
    return _number(point[0])


def _number(value: Any) -> tuple[float, str]:
    """Return a key to sort values by: quantities of the same kind by their size."""
    from frontend import units

    for kind in (units.TIME, units.SIZE, units.RATE):
        try:
            return float(units.parse(value, kind)), ""
        except ValueError:
            continue
    return (0.0, str(value))


def _key(result: Result, path: str) -> Any:
    value: Any = result.scenario
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            name = result.scenario.get("name")
            raise InputError(f"{path}: the scenario of {name} has no such key")
        value = value[key]
    return value
