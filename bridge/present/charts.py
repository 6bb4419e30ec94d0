"""The charts of results, as figures of Plotly in plain dictionaries.

The report shows them in a browser, and `chart_picture` draws them for print.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from bridge.present.figure import COLORS
from bridge.present.link_map import LinkMap
from bridge.results.result import Result

_NS_PER_US = 1e3

#: Layers and steps that a chart shows at most; the rest is one bar.
MOST_BARS = 24

#: Colours of utilization, from an idle link to a full one; they differ in lightness, too.
HEAT = ("#c9d7e8", "#9fb8d6", "#88ccee", "#44aa99", "#ddcc77", "#ee9944", "#cc4433", "#882255")

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


def layers(results: Mapping[str, Result]) -> Chart | None:
    """Return the time of each layer: compute and exposed communication, for each iteration."""
    traces: list[dict[str, Any]] = []
    rows = 0
    for number, (name, result) in enumerate(results.items()):
        iterations = max(1, len(result.iterations))
        times = [
            (one.name, one.compute_ns / iterations, one.exposed_comm_ns / iterations)
            for one in result.layers
        ]
        shown = sorted(times, key=lambda one: -(one[1] + one[2]))
        rest = shown[MOST_BARS:]
        kept = [one for one in times if one in shown[:MOST_BARS]]
        if rest:
            sums = (sum(one[1] for one in rest), sum(one[2] for one in rest))
            kept.append((f"{len(rest)} other layers", *sums))
        rows = max(rows, len(kept))
        parts = (
            ("compute", [one[1] for one in kept]),
            ("exposed communication", [one[2] for one in kept]),
        )
        for color, (part, values) in zip(COLORS, parts, strict=False):
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": part if len(results) == 1 else f"{name}: {part}",
                    "y": [one[0] for one in kept],
                    "x": [value / _NS_PER_US for value in values],
                    "offsetgroup": str(number),
                    "marker": {
                        "color": color,
                        "pattern": {"shape": ("", "/", ".", "x")[number % 4]},
                    },
                    "hovertemplate": "%{y}: %{x:.4~g} µs<extra>%{fullData.name}</extra>",
                }
            )
    if not rows:
        return None
    layout = {
        "barmode": "stack",
        "height": 130 + rows * (14 + 12 * len(results)),
        "xaxis": {"title": {"text": "time of an iteration, mean over the ranks [µs]"}},
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    return Chart("layers", "Time of each layer in an iteration", traces, layout)


def critical_path(results: Mapping[str, Result]) -> Chart | None:
    """Return what the critical paths consist of: one bar for each result."""
    paths = {name: result.critical_path for name, result in results.items()}
    known = {name: path for name, path in paths.items() if path}
    if not known:
        return None
    traces = []
    kinds = list(dict(next(iter(known.values()))[0].times))
    palette = (*COLORS, "#332288", "#44aa99")
    for kind, color in zip(kinds, palette, strict=False):
        times = [
            sum(getattr(one.times, kind) for one in path) / len(path) for path in known.values()
        ]
        if any(times):
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": kind.removesuffix("_ns"),
                    "y": list(known),
                    "x": [time / _NS_PER_US for time in times],
                    "marker": {"color": color},
                    "hovertemplate": "%{fullData.name}: %{x:.4~g} µs<extra>%{y}</extra>",
                }
            )
    layout = {
        "barmode": "stack",
        "height": 130 + 40 * len(known),
        "xaxis": {"title": {"text": "time of an iteration [µs]"}},
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    return Chart(
        "critical-path", "What the critical path of an iteration consists of", traces, layout
    )


def link_heat(name: str, title: str, links: LinkMap) -> Chart:
    """Return the topology with the colour of each link by its utilization."""
    traces: list[dict[str, Any]] = []
    steps = len(HEAT)
    for step, color in enumerate(HEAT):
        low, high = step / steps, (step + 1) / steps
        chosen = [one for one in links.links if low <= min(one["utilization"], 1 - 1e-9) < high]
        if not chosen:
            continue
        x: list[float | None] = []
        y: list[float | None] = []
        for link in chosen:
            (x0, y0), (x1, y1) = links.places[link["source"]], links.places[link["target"]]
            # The two directions of a cable stand side by side.
            shift = 0.04
            norm = max(float(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5), 1e-9)
            dx, dy = -(y1 - y0) / norm * shift, (x1 - x0) / norm * shift
            x += [x0 + dx, x1 + dx, None]
            y += [y0 + dy, y1 + dy, None]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{100 * low:.0f}–{100 * high:.0f} %",
                "x": _rounded(x),
                "y": _rounded(y),
                "line": {"color": color, "width": 1.2 + 3 * (step + 1) / steps},
                "hoverinfo": "skip",
            }
        )
    nodes = range(len(links.places))
    traces.append(
        {
            "type": "scatter",
            "mode": "markers+text" if len(nodes) <= 64 else "markers",
            "name": "nodes",
            "showlegend": False,
            "x": _rounded(links.places[:, 0].tolist()),
            "y": _rounded(links.places[:, 1].tolist()),
            "text": [str(node) for node in nodes],
            "hovertext": [links.node_name(node) for node in nodes],
            "hoverinfo": "text",
            "textposition": "bottom center",
            "marker": {
                "size": 9 if len(nodes) <= 64 else 5,
                "symbol": ["circle" if node < links.ranks else "square" for node in nodes],
                "color": "#888888",
            },
        }
    )
    hidden = {"visible": False}
    layout = {
        "height": 460,
        "xaxis": hidden,
        "yaxis": hidden,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "title": {"text": "utilization "},
        },
    }
    return Chart(name, title, traces, layout)


def _rounded(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else round(value, 3) for value in values]


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
    return _distribution("slowdown", title, "slowdown, mean over the messages of a flow", curves)


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
