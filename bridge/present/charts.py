"""The charts of results, as figures of Plotly in plain dictionaries.

The report shows them in a browser, and `chart_picture` draws them for print.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from bridge.present.figure import COLORS
from bridge.present.quantities import time_unit
from bridge.results.measurements import Layer
from bridge.results.result import Result

#: With more layers than this, those whose names differ only in numbers are one row.
MANY_LAYERS = 24


@dataclass(frozen=True)
class LayerGroup:
    """One layer, or several that are alike, with the sums of their times over all iterations."""

    name: str
    """The layer, or what is common to the names with the number of layers, as ``block_* (32)``."""
    compute_ns: float
    """As in `bridge.results.measurements.Layer`; so are the others."""
    raw_comm_ns: float
    exposed_comm_ns: float


def layer_groups(layers: Sequence[Layer]) -> list[LayerGroup]:
    """Return the rows for some layers.

    Parameters
    ----------
    layers : sequence of Layer
        The layers of a result. Those without computation and communication have no row.

    Returns
    -------
    list of LayerGroup
        In the order of the layers. If there are more than `MANY_LAYERS`, layers whose names differ
        only in numbers share a row.
    """
    busy = [one for one in layers if one.compute_ns or one.raw_comm_ns or one.exposed_comm_ns]
    groups: dict[str, list[Layer]] = {}
    for layer in busy:
        name = re.sub(r"\d+", "*", layer.name) if len(busy) > MANY_LAYERS else layer.name
        groups.setdefault(name, []).append(layer)
    return [
        LayerGroup(
            group[0].name if len(group) == 1 else f"{name} ({len(group)})",
            sum(layer.compute_ns for layer in group),
            sum(layer.raw_comm_ns for layer in group),
            sum(layer.exposed_comm_ns for layer in group),
        )
        for name, group in groups.items()
    ]


class StackedBars:
    """The bars of a chart and their layout, in Plotly's terms and one unit of time.

    Parameters
    ----------
    longest_ns : float
        The longest time that a bar shows, which gives the unit [ns].
    """

    def __init__(self, longest_ns: float) -> None:
        self._unit, self._scale = time_unit(longest_ns)
        self.traces: list[dict[str, Any]] = []
        """Plotly's data."""

    def add(self, part: str, times_ns: Mapping[str, float], color: str, **options: Any) -> None:
        """Add the times of a part [ns] to the bars of these names.

        Parameters
        ----------
        part : str
            The name of the part in the legend.
        times_ns : mapping
            The time of the part in each bar [ns], by the name of the bar.
        color : str
            The colour of the part.
        **options
            Further keys of Plotly's trace, such as ``offsetgroup``; ``pattern`` is the shape that
            fills the bars.
        """
        pattern = options.pop("pattern", "")
        self.traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": part,
                "y": list(times_ns),
                "x": [time / self._scale for time in times_ns.values()],
                "marker": {"color": color, "pattern": {"shape": pattern}},
                "hovertemplate": (
                    f"%{{fullData.name}}: %{{x:.4~g}} {self._unit}<extra>%{{y}}</extra>"
                ),
                **options,
            }
        )

    def layout(self, axis: str, height: int) -> dict[str, Any]:
        """Return Plotly's layout: the title of the axis of time, and the height of all bars."""
        return {
            "barmode": "stack",
            "height": 130 + height,
            "xaxis": {"title": {"text": f"{axis} [{self._unit}]"}},
            "yaxis": {"autorange": "reversed", "automargin": True},
        }


_NS_PER_US = 1e3

#: Layers and steps that a chart shows at most; the rest is one bar.
MOST_BARS = 24

#: Points of a curve at most.
_POINTS = 200


@dataclass(frozen=True)
class Chart:
    """A chart and what it says in words."""

    name: str
    """Identifies it in the page."""
    caption: str
    """What it shows."""
    traces: list[dict[str, Any]]
    """Plotly's data."""
    layout: dict[str, Any]
    """Plotly's layout, without colours."""

    def to_dict(self) -> dict[str, Any]:
        """Return what the script of the page needs."""
        return {"name": self.name, "data": self.traces, "layout": self.layout}


#: What the bars of a layer show: the time, and the colour.
_PARTS: dict[str, tuple[Callable[[LayerGroup], float], str]] = {
    "compute": (lambda layer: layer.compute_ns, COLORS[0]),
    "exposed communication": (lambda layer: layer.exposed_comm_ns, COLORS[1]),
    "all communication": (lambda layer: layer.raw_comm_ns, "#bbbbbb"),
}


def layers(results: Mapping[str, Result]) -> Chart | None:
    """Return the time of each layer in an iteration: compute and exposed communication.

    One result has a second bar for each layer: all communication, also what computation hides.
    """
    rows = {name: _layer_rows(result) for name, result in results.items()}
    iterations = {name: max(1, len(result.iterations)) for name, result in results.items()}
    longest = max(
        (
            max(one.compute_ns + one.exposed_comm_ns, one.raw_comm_ns) / iterations[name]
            for name, kept in rows.items()
            for one in kept
        ),
        default=0.0,
    )
    if not longest:
        return None
    is_alone = len(results) == 1
    bars = StackedBars(longest)
    parts = ["compute", "exposed communication"] + ["all communication"] * is_alone
    for number, (name, kept) in enumerate(rows.items()):
        for part in parts:
            value, color = _PARTS[part]
            bars.add(
                part if is_alone else f"{name}: {part}",
                {one.name: value(one) / iterations[name] for one in kept},
                color,
                pattern=("", "/", ".", "x")[number % 4],
                offsetgroup="all" if part == "all communication" else str(number),
            )
    height = max(map(len, rows.values())) * (12 + 8 * max(2, len(results)))
    layout = bars.layout("iteration, mean over the ranks", height)
    return Chart("layers", "Time of each layer in an iteration", bars.traces, layout)


def _layer_rows(result: Result) -> list[LayerGroup]:
    """Return the layers to show, and the rest as one; with the sums over all iterations."""
    rows = layer_groups(result.layers)
    shown = sorted(rows, key=lambda one: -(one.compute_ns + one.exposed_comm_ns))[:MOST_BARS]
    rest = [one for one in rows if one not in shown]
    if not rest:
        return rows
    compute, raw, exposed = (
        sum(getattr(one, part) for one in rest)
        for part in ("compute_ns", "raw_comm_ns", "exposed_comm_ns")
    )
    kept = [one for one in rows if one in shown]
    return [*kept, LayerGroup(f"{len(rest)} other layers", compute, raw, exposed)]


def critical_path(results: Mapping[str, Result]) -> Chart | None:
    """Return what the critical paths consist of: one bar for each result."""
    paths = {name: result.critical_path for name, result in results.items()}
    known = {name: path for name, path in paths.items() if path}
    if not known:
        return None
    bars = StackedBars(max(one.time_ns for path in known.values() for one in path))
    kinds = list(dict(next(iter(known.values()))[0].times))
    palette = (*COLORS, "#ee6633", "#44aa99")
    for kind, color in zip(kinds, palette, strict=False):
        times = {
            name: sum(getattr(one.times, kind) for one in path) / len(path)
            for name, path in known.items()
        }
        if any(times.values()):
            bars.add(kind.removesuffix("_ns"), times, color)
    caption = "What the critical path of an iteration consists of"
    layout = bars.layout("time of an iteration", 40 * len(known))
    return Chart("critical-path", caption, bars.traces, layout)


def completion_times(results: Mapping[str, Result]) -> Chart | None:
    """Return the distribution of the completion times of the messages."""
    curves = {
        name: [(row["fct_ns"] / _NS_PER_US, row["fraction"]) for row in result.tables.rows("fct")]
        for name, result in results.items()
    }
    return _distribution(
        "fct", "Completion times of the messages (FCT)", "completion time [µs]", curves
    )


def slowdowns(results: Mapping[str, Result]) -> Chart | None:
    """Return the distribution of the slowdowns of the flows."""
    curves = {}
    for name, result in results.items():
        values = sorted(row["slowdown"] for row in result.tables.rows("flows"))
        every = max(1, len(values) // _POINTS)
        curves[name] = [
            (value, (index + 1) / len(values))
            for index, value in enumerate(values)
            if index % every == 0 or index == len(values) - 1
        ]
    title = "Slowdown of the flows: completion time over that in an empty network"
    return _distribution("slowdown", title, "slowdown, mean of a flow", curves)


def _distribution(
    name: str, caption: str, axis: str, curves: Mapping[str, Sequence[tuple[float, float]]]
) -> Chart | None:
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {
                "shape": "hv",
                "color": COLORS[number % len(COLORS)],
                "dash": ("solid", "dash", "dot", "dashdot")[number % 4],
            },
            "name": label,
            "x": [x for x, _ in points],
            "y": [y for _, y in points],
            "showlegend": len(curves) > 1,
        }
        for number, (label, points) in enumerate(curves.items())
        if points
    ]
    if not traces:
        return None
    largest = max(x for points in curves.values() for x, _ in points)
    least = min((x for points in curves.values() for x, _ in points if x > 0), default=1.0)
    layout = {
        "height": 330,
        "xaxis": {
            "title": {"text": axis},
            "type": "log" if isfinite(largest) and largest > 20 * least else "linear",
        },
        "yaxis": {"title": {"text": "fraction"}, "range": [0, 1.02]},
    }
    return Chart(name, caption, traces, layout)


def bus_bandwidths(results: Mapping[str, Result]) -> Chart | None:
    """Return busbw against size, as nccl-tests compare collectives."""
    traces = []
    for number, (name, result) in enumerate(results.items()):
        points = sorted((one.bytes, one.busbw_bps / 8e9, one.name) for one in result.collectives)
        points = points[:: max(1, len(points) // 500)]
        if points:
            traces.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "showlegend": len(results) > 1,
                    "x": [size for size, _, _ in points],
                    "y": [rate for _, rate, _ in points],
                    "text": [label for _, _, label in points],
                    "hovertemplate": "%{text}: %{x} B, %{y:.4~g} GB/s<extra></extra>",
                    "marker": {
                        "color": COLORS[number % len(COLORS)],
                        "symbol": ("circle", "diamond", "cross", "x")[number % 4],
                    },
                }
            )
    if not traces:
        return None
    layout = {
        "height": 330,
        "xaxis": {"title": {"text": "buffer of a rank [B]"}, "type": "log"},
        "yaxis": {"title": {"text": "busbw [GB/s]"}, "rangemode": "tozero"},
    }
    return Chart("busbw", "Bus bandwidth of the collectives", traces, layout)


#: The rest of an iteration: ranks that have finished wait for the last one.
_OTHER = "waiting for slower ranks"


def iteration_parts(results: Mapping[str, Result]) -> Chart | None:
    """Return what an iteration consists of: compute, exposed communication by its use, waiting.

    Communication is for a dimension of parallelism in a language model, and of an operation in
    other workloads.
    """
    known = {name: result for name, result in results.items() if result.iterations}
    times = {name: _parts(result) for name, result in known.items()}
    kinds = list(dict.fromkeys(kind for parts in times.values() for kind in parts))
    if not times:
        return None
    kinds.sort(key=lambda kind: (kind == _OTHER, kind != "compute"))
    bars = StackedBars(max(sum(parts.values()) for parts in times.values()))
    palette = COLORS[1:-1]
    for number, kind in enumerate(kinds):
        color = {"compute": COLORS[0], _OTHER: COLORS[-1]}.get(kind, palette[number % len(palette)])
        bars.add(kind, {name: parts.get(kind, 0.0) for name, parts in times.items()}, color)
    layout = bars.layout("iteration, mean over the ranks", 40 * len(times))
    caption = "Time of an iteration: compute, and exposed communication by what it is for"
    return Chart("iteration", caption, bars.traces, layout)


def _parts(result: Result) -> dict[str, float]:
    """Return the parts of a mean iteration [ns], which add up to its time.

    Layers also have the waits of iterations that have not ended, so only the proportions of the
    exposed communication are theirs.
    """
    operations: dict[str, set[str]] = {}
    for one in result.collectives:
        operations.setdefault(one.layer, set()).add(one.operation)
    exposed = sum(one.exposed_comm_ns for one in result.iterations)
    of_layers = sum(layer.exposed_comm_ns for layer in result.layers)
    parts = {"compute": sum(one.compute_ns for one in result.iterations)}
    for layer in result.layers:
        name = layer.name
        if not name.endswith("_parallel"):
            name = " and ".join(sorted(operations.get(name, {"messages"})))
        part = layer.exposed_comm_ns / of_layers if of_layers else 0.0
        parts[name] = parts.get(name, 0.0) + part * exposed
    parts[_OTHER] = sum(one.waiting_ns for one in result.iterations)
    return {
        kind.replace("_", " "): time / len(result.iterations)
        for kind, time in parts.items()
        if time > 0
    }
