"""The charts of results.

They show times of layers and iterations, distributions, bandwidths, what is sampled over time, and
a metric of a sweep.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.errors import InputError
from bridge.present.comparison import differing_keys, value_text
from bridge.present.metrics import Metric, path_times
from bridge.present.pictures.chart import (
    Chart,
    Part,
    Trace,
    axis,
    color,
    curve,
    marks,
    rows_over_time,
    stacked_bars,
)
from bridge.present.pictures.figure import COLORS
from bridge.present.pictures.links import node_names
from bridge.present.pictures.waterfall import COMPUTE, WAITING, uses
from bridge.present.quantities import scaled_unit, time_text, time_unit
from bridge.present.replicates import interval
from bridge.results.measurements import Layer
from bridge.results.result import Result
from frontend import units
from frontend.errors import key_path

#: With more layers than this, those whose names differ only in numbers are one row.
MANY_LAYERS = 24

#: Layers and steps that a chart shows at most; the rest is one bar.
MOST_BARS = 24

#: Pixels of a bar that stands for a result.
BAR = 40

_SYMBOLS = ("circle", "diamond", "square", "cross", "x")

#: Points of the distribution of slowdowns at most.
_POINTS = 200

#: Curves of time series in a chart: those with the highest peaks.
_CURVES = 8

#: Samples of a time series at most. Of those that share a point, the greatest counts.
_SAMPLES = 1000

_NS_PER_US = 1e3


@dataclass(frozen=True)
class LayerGroup:
    """One layer, or several that are alike, with the sums of their times over all iterations."""

    name: str
    """The layer, or what is common to the names with the number of layers, as ``block_* (32)``."""
    compute_ns: float
    """As in `bridge.results.measurements.Layer`; so are the others."""
    raw_comm_ns: float
    exposed_comm_ns: float


def _sum(name: str, layers: Sequence[Layer | LayerGroup]) -> LayerGroup:
    return LayerGroup(
        name,
        sum(layer.compute_ns for layer in layers),
        sum(layer.raw_comm_ns for layer in layers),
        sum(layer.exposed_comm_ns for layer in layers),
    )


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
        _sum(group[0].name if len(group) == 1 else f"{name} ({len(group)})", group)
        for name, group in groups.items()
    ]


#: What the bars of a layer show: the time, and the colour.
_PARTS: dict[str, tuple[Callable[[LayerGroup], float], str]] = {
    "compute": (lambda layer: layer.compute_ns, COLORS[0]),
    "exposed communication": (lambda layer: layer.exposed_comm_ns, COLORS[1]),
    "all communication": (lambda layer: layer.raw_comm_ns, COLORS[7]),
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
    shown = ["compute", "exposed communication"] + ["all communication"] * is_alone
    parts = [
        Part(
            part if is_alone else f"{name}: {part}",
            {one.name: _PARTS[part][0](one) / iterations[name] for one in kept},
            _PARTS[part][1],
            pattern=("", "/", ".", "x")[number % 4],
            group="all" if part == "all communication" else str(number),
            result=number,
        )
        for number, (name, kept) in enumerate(rows.items())
        for part in shown
    ]
    height = max(map(len, rows.values())) * (12 + 8 * max(2, len(results)))
    caption = "Time of each layer in an iteration"
    return stacked_bars("layers", caption, "iteration, mean over the ranks", longest, height, parts)


def _layer_rows(result: Result) -> list[LayerGroup]:
    """Return the layers to show, and the rest as one; with the sums over all iterations."""
    rows = layer_groups(result.layers)
    shown = sorted(rows, key=lambda one: -(one.compute_ns + one.exposed_comm_ns))[:MOST_BARS]
    rest = [one for one in rows if one not in shown]
    if not rest:
        return rows
    return [*(one for one in rows if one in shown), _sum(f"{len(rest)} other layers", rest)]


def critical_path(results: Mapping[str, Result]) -> Chart | None:
    """Return what the critical paths consist of: one bar for each result."""
    known = {name: path for name, result in results.items() if (path := result.critical_path)}
    if not known:
        return None
    longest = max(one.time_ns for path in known.values() for one in path)
    times = {name: path_times(path) for name, path in known.items()}
    palette = (*COLORS, "#ee6633", "#44aa99", "#332288", "#882255")
    parts = [
        Part(kind, {name: own[kind] / len(known[name]) for name, own in times.items()}, shade)
        for kind, shade in zip(next(iter(times.values())), palette, strict=True)
        if any(own[kind] for own in times.values())
    ]
    caption = "What the critical path of an iteration consists of"
    height = BAR * len(known)
    chart = stacked_bars("critical-path", caption, "time of an iteration", longest, height, parts)
    return _by_result(chart, results)


def iteration_parts(results: Mapping[str, Result]) -> Chart | None:
    """Return what an iteration consists of: compute, exposed communication by its use, waiting.

    Communication is for a dimension of parallelism in a language model, and of an operation in
    other workloads.
    """
    times = {name: uses(result) for name, result in results.items() if result.iterations}
    if not times:
        return None
    kinds = list(dict.fromkeys(kind for parts in times.values() for kind in parts))
    kinds.sort(key=lambda kind: (kind == WAITING, kind != COMPUTE))
    palette = COLORS[1:-1]
    own_colors = {COMPUTE: COLORS[0], WAITING: COLORS[-1]}
    parts = [
        Part(
            kind,
            {name: parts.get(kind, 0.0) for name, parts in times.items()},
            own_colors.get(kind, palette[number % len(palette)]),
        )
        for number, kind in enumerate(kinds)
    ]
    longest = max(sum(parts.values()) for parts in times.values())
    caption = "Time of an iteration: compute, and exposed communication by what it is for"
    title, height = "iteration, mean over the ranks", BAR * len(times)
    return _by_result(stacked_bars("iteration", caption, title, longest, height, parts), results)


def _by_result(chart: Chart, results: Mapping[str, Result]) -> Chart:
    """Return a chart that says which result each of its bars is of."""
    chart.layout["meta"] = {"bar": BAR, "results": list(results)}
    return chart


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
    name: str, caption: str, title: str, curves: Mapping[str, Sequence[tuple[float, float]]]
) -> Chart | None:
    dashes = ("solid", "dash", "dot", "dashdot")
    traces = []
    for number, (label, points) in enumerate(curves.items()):
        if not points:
            continue
        shade, dash = color(number), dashes[number % len(dashes)]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        traces.append(
            curve(
                label,
                xs,
                ys,
                {"shape": "hv", "color": shade, "dash": dash},
                showlegend=False,
                meta=number,
            )
        )
        named = {f"p{100 * part:.0f}": quantile(points, part) for part in (0.5, 0.99)}
        texts = [f"{name} {value:.4g}" for name, value in named.items()]
        traces.append(
            marks(
                ": ".join(filter(None, [label, ", ".join(texts)])),
                list(named.values()),
                [0.5, 0.99],
                {"color": shade, "symbol": _SYMBOLS[number % len(_SYMBOLS)], "size": 9},
                hovertemplate="%{x:.4~g}<extra>%{fullData.name}</extra>",
                meta=number,
            )
        )
    if not traces:
        return None
    largest = max(x for points in curves.values() for x, _ in points)
    least = min((x for points in curves.values() for x, _ in points if x > 0), default=1.0)
    is_wide = isfinite(largest) and largest > 20 * least
    layout = {
        "height": 330,
        "xaxis": axis(title, type="log" if is_wide else "linear"),
        "yaxis": axis("fraction", range=[0, 1.02]),
    }
    return Chart(name, caption, traces, layout)


def quantile(points: Sequence[tuple[float, float]], part: float) -> float:
    """Return the least value of a distribution below which a part of it is."""
    return next((x for x, fraction in points if fraction >= part), points[-1][0])


def bus_bandwidths(results: Mapping[str, Result]) -> Chart | None:
    """Return busbw against size, as nccl-tests compare collectives."""
    lines = {}
    for name, result in results.items():
        points = sorted((one.bytes, one.busbw_bps / 8e9, one.name) for one in result.collectives)
        lines[name] = points[:: max(1, len(points) // 500)]
    return bus_bandwidth_lines(lines)


def bus_bandwidth_lines(lines: Mapping[str, Sequence[tuple[int, float, str]]]) -> Chart | None:
    """Return busbw against size.

    Parameters
    ----------
    lines : mapping of str to sequence of tuples
        Size in bytes, bus bandwidth in GB/s and text of each point, by the name of its line.
    """
    symbols = ("circle", "diamond", "cross", "x")
    traces = []
    for number, (name, points) in enumerate(lines.items()):
        if points:
            sizes, rates, labels = map(list, zip(*points, strict=True))
            traces.append(
                marks(
                    name,
                    sizes,
                    rates,
                    {"color": color(number), "symbol": symbols[number % len(symbols)]},
                    text=labels,
                    hovertemplate="%{text}: %{x} B, %{y:.4~g} GB/s<extra></extra>",
                    showlegend=len(lines) > 1,
                    meta=number,
                )
            )
    if not traces:
        return None
    layout = {
        "height": 330,
        "xaxis": axis("buffer of a rank [B]", type="log"),
        "yaxis": axis("busbw [GB/s]", rangemode="tozero"),
    }
    return Chart("busbw", "Bus bandwidth of the collectives", traces, layout)


Window = tuple[float | None, float | None]
"""Start and end of a time window [ns]; None stands for what the chart shows by default."""

ALL: Window = (None, None)

_LINKS, _FLOWS = ("link_series", "link"), ("flow_series", "path")
"""A table of samples, and its column that tells curves apart."""


def queues(result: Result, window: Window = ALL) -> Chart | None:
    """Return the queues over time of the links that have the longest ones in a time window."""
    return _series(result, "queue", _LINKS, ("queue_bytes", "B"), "Queues of links", window)


def throughput(result: Result, window: Window = ALL) -> Chart | None:
    """Return the throughput over time of the links that have the highest one."""
    column = ("throughput_bps", "bit/s")
    return _series(result, "throughput", _LINKS, column, "Throughput of links", window)


def windows(result: Result, window: Window = ALL) -> Chart | None:
    """Return the congestion windows over time of the flows that have the largest ones."""
    column = ("cwnd_bytes", "B")
    return _series(result, "cwnd", _FLOWS, column, "Congestion windows of flows", window)


def rates(result: Result, window: Window = ALL) -> Chart | None:
    """Return the rates over time of the queue pairs that have the highest ones; None for TCP."""
    if result.rdma is None:
        return None
    return _series(result, "rate", _FLOWS, ("rate_bps", "bit/s"), "Rates of queue pairs", window)


def round_trips(result: Result, window: Window = ALL) -> Chart | None:
    """Return the latest round trips over time of the flows that have the longest ones."""
    return _series(result, "RTT", _FLOWS, ("rtt_ns", "ns"), "Round trips of flows", window)


#: Bars over time at most: more could not be told apart.
MOST_SPANS = 4000

#: Ports that a chart of pauses shows at most: those that were paused longest.
_PORTS = 40


def pauses(result: Result, window: Window = ALL) -> Chart | None:
    """Return which ports were paused when: a row for each port, a bar for each pause.

    The colour says how many pauses in a row have led to a pause, with it.
    """
    rows = result.tables.rows("pauses")
    if not rows:
        return None
    start, end = _sides(window)
    rows = [row for row in rows if row["end_ns"] > start and row["start_ns"] < end]
    if not rows:
        raise InputError("pauses: expected pauses in this time window")
    times: dict[int, float] = {}
    nearest: dict[int, int] = {}
    for row in rows:
        link = row["link"]
        times[link] = times.get(link, 0.0) + row["end_ns"] - row["start_ns"]
        nearest[link] = min(nearest.get(link, row["hops"]), row["hops"])
    shown = sorted(times, key=lambda link: -times[link])[:_PORTS]
    shown.sort(key=lambda link: (nearest[link], -times[link]))
    kept = sorted(
        (row for row in rows if row["link"] in shown),
        key=lambda row: row["start_ns"] - row["end_ns"],
    )[:MOST_SPANS]
    nodes = node_names(result)
    ends = {row["link"]: (row["source"], row["target"]) for row in kept}
    labels = {
        link: " → ".join(nodes[node] if nodes else f"node {node}" for node in ends[link])
        + f" ({time_text(times[link])})"
        for link in shown
        if link in ends
    }
    unit, scale = time_unit(max(row["end_ns"] for row in kept))
    traces: list[Trace] = []
    for number, hops in enumerate(sorted({row["hops"] for row in kept})):
        of_hop = [row for row in kept if row["hops"] == hops]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": "first of a chain" if hops == 1 else f"hop {hops} of a chain",
                "y": [labels[row["link"]] for row in of_hop],
                "base": [row["start_ns"] / scale for row in of_hop],
                "x": [(row["end_ns"] - row["start_ns"]) / scale for row in of_hop],
                "marker": {"color": color(number), "line": {"width": 0}},
                "hovertemplate": f"%{{x:.4~g}} {unit}<extra>%{{y}}</extra>",
            }
        )
    layout = rows_over_time(list(labels.values()), unit)
    rest = f", the {len(shown)} of {len(times)} that were paused longest" * (
        len(times) > len(shown)
    )
    return Chart("pauses", f"When ports were paused{rest}", traces, layout)


def _sides(window: Window) -> tuple[float, float]:
    """Return where a window begins and ends; by default it has no sides."""
    start, end = window
    return -inf if start is None else start, inf if end is None else end


def _series(
    result: Result,
    name: str,
    table: tuple[str, str],
    column: tuple[str, str],
    title: str,
    window: Window,
) -> Chart | None:
    """Return a column of a table of samples, with a curve for each link or flow.

    Parameters
    ----------
    result : Result
        A result with time series in its folder.
    name, title : str
        Of the chart.
    table : (str, str)
        The table, and its column that tells curves apart.
    column : (str, str)
        The column of the values, and their unit.
    window : Window
        The time window; by default all of the run.

    Raises
    ------
    InputError
        No sample is in the window.
    """
    key = table[1]
    samples = result.tables.numbers(table[0], ("time_ns", key, "source", "target", column[0]))
    if samples is None or not samples.size:
        return None
    start, end = _sides(window)
    samples = samples[(samples[:, 0] >= start) & (samples[:, 0] <= end)]
    if not samples.size:
        raise InputError(f"{table[0]}: expected samples in this time window")
    ids, first, number_of = np.unique(samples[:, 1], return_index=True, return_inverse=True)
    peaks = np.zeros(len(ids))
    np.maximum.at(peaks, number_of, samples[:, 4])
    shown = np.argsort(-peaks, kind="stable")[:_CURVES]
    time, ns = time_unit(float(samples[:, 0].max()))
    largest = float(peaks.max())
    unit, scale = time_unit(largest) if column[1] == "ns" else scaled_unit(largest, column[1])
    names = node_names(result)
    traces = []
    for number, chosen in enumerate(shown.tolist()):
        ends = samples[first[chosen], 2:4].astype(np.int64).tolist()
        source, target = (names[node] if names else f"node {node}" for node in ends)
        times, values = _thinned(samples[number_of == chosen][:, (0, 4)])
        dash = ("solid", "dash")[number // 4 % 2]
        traces.append(
            curve(
                f"{source} → {target} ({key} {int(ids[chosen])})",
                (times / ns).round(6).tolist(),
                (values / scale).round(6).tolist(),
                {"color": color(number), "dash": dash, "width": 1.5},
                hovertemplate=f"%{{x:.6~g}} {time}: %{{y:.4~g}} {unit}"
                "<extra>%{fullData.name}</extra>",
            )
        )
    layout = {
        "height": 380,
        "xaxis": axis(f"simulated time [{time}]"),
        "yaxis": axis(f"{name} [{unit}]", rangemode="tozero"),
    }
    rest = f", the {len(shown)} highest of {len(ids)}" if len(ids) > len(shown) else ""
    return Chart(name, f"{title} over time{rest}", traces, layout)


def _thinned(
    samples: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values with at most `_SAMPLES` points, each the peak of its samples."""
    every = -(-len(samples) // _SAMPLES)
    begins = np.arange(0, len(samples), every)
    return samples[begins, 0], np.maximum.reduceat(samples[:, 1], begins)


#: A result that repeats another one with other random choices differs from it in this key only.
_SEED = "seed"

#: From this ratio of the greatest to the least value on, the axis is logarithmic.
_WIDE = 20


def sweep_chart(
    results: Sequence[Result], x: str | None, metric: Metric, by: str | None
) -> Chart | None:
    """Return a metric of many results against a key of their scenarios.

    Results that differ only in their seeds have a mark each; the curve passes through their mean,
    with its 95 % confidence interval.

    Parameters
    ----------
    results : sequence of Result
        The points of a sweep.
    x : str or None
        Key path of the horizontal axis, such as ``topology.bandwidth``. By default, of the keys
        that differ, the one with most values; numbers come before names.
    metric : Metric
        The vertical axis.
    by : str or None
        Key path whose values have a curve each. By default, the other key that differs, if any.

    Raises
    ------
    InputError
        A scenario has no such key, more keys differ than a picture shows, or no result has the
        metric.
    """
    known = [(result, value) for result in results if (value := metric.value(result)) is not None]
    if not known:
        return None
    x, by = _keys([result for result, _ in known], x, by)
    curves: dict[str, dict[str, list[float]]] = {}
    first: dict[tuple[str, str], Result] = {}
    for result, value in known:
        name, place = (
            "" if by is None else key_text(result, by),
            key_text(result, x),
        )
        _check_equal(first.setdefault((name, place), result), result, x, by)
        curves.setdefault(name, {}).setdefault(place, []).append(value)
    unit, scale = metric.unit(max(value for _, value in known))
    title = f"{metric.name} [{unit}]".removesuffix(" []")
    places = list(dict.fromkeys(place for points in curves.values() for place in points))
    names = _sorted(list(curves))
    if any(_order(place)[0] for place in places):
        chart = _sweep_bars(curves, names, places, scale, title)
        chart.layout["legend"] = {"title": {"text": f"{by} "}} if by else {}
        return replace(chart, caption=f"{metric.name} against {x}")
    numbers = {text: _order(text)[1] for text in places}
    traces = []
    for index, name in enumerate(names):
        points = sorted(curves[name].items(), key=lambda one: numbers[one[0]])
        means = [sum(values) / len(values) / scale for _, values in points]
        where = [numbers[place] for place, _ in points]
        spread = _error_bars([values for _, values in points], scale)
        line = {"color": color(index)}
        traces.append(curve(name, where, means, line, showlegend=False, **spread))
        where = [numbers[place] for place, values in points for _ in values]
        every = [value / scale for _, values in points for value in values]
        marker = {"color": color(index), "symbol": _SYMBOLS[index % len(_SYMBOLS)]}
        traces.append(marks(name, where, every, marker, showlegend=by is not None))
    layout = {
        "height": 330,
        "xaxis": axis(x, **_ticks(numbers)),
        "yaxis": axis(title, rangemode="tozero"),
    }
    if by is not None:
        layout["legend"] = {"title": {"text": f"{by} "}}
    return Chart("sweep", f"{metric.name} against {x}", traces, layout)


def _error_bars(groups: Sequence[Sequence[float]], scale: float) -> dict[str, Any]:
    """Return the confidence intervals of means, if there are repetitions, for a curve."""
    if all(len(values) < 2 for values in groups):
        return {}
    found = [interval(values) for values in groups]
    widths = [one.half_width or 0.0 if one else 0.0 for one in found]
    return {"error_y": {"type": "data", "array": [width / scale for width in widths]}}


def _sweep_bars(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    names: Sequence[str],
    places: Sequence[str],
    scale: float,
    title: str,
) -> Chart:
    """Return a bar for each name on the axis, in the given order, and a group for each curve.

    A bar is as long as the mean of the values; a line reaches from the least to the greatest one.
    """
    traces: list[Trace] = []
    for index, name in enumerate(names):
        values = {place: curves[name][place] for place in places if place in curves[name]}
        means = [sum(some) / len(some) / scale for some in values.values()]
        trace = {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": list(values),
            "x": means,
            "offsetgroup": str(index),
            "marker": {"color": color(index)},
            "showlegend": len(names) > 1,
            "hovertemplate": "%{y}: %{x:.4~g}<extra>%{fullData.name}</extra>",
        }
        if any(len(some) > 1 for some in values.values()):
            trace["error_x"] = {
                "type": "data",
                "symmetric": False,
                "array": [max(v) / scale - m for v, m in zip(values.values(), means, strict=True)],
                "arrayminus": [
                    m - min(v) / scale for v, m in zip(values.values(), means, strict=True)
                ],
            }
        traces.append(trace)
    layout = {
        "barmode": "group",
        "height": 130 + 24 * len(places) * max(1, len(names)),
        "xaxis": axis(title, rangemode="tozero"),
        "yaxis": {
            "automargin": True,
            "autorange": "reversed",
            "type": "category",
            "categoryorder": "array",
            "categoryarray": list(places),
        },
    }
    return Chart("sweep", "", traces, layout)


def _sorted(values: Sequence[str]) -> list[str]:
    """Return quantities by their size, and names in the given order."""
    return list(values) if any(_order(text)[0] for text in values) else sorted(values, key=_order)


def _keys(results: Sequence[Result], x: str | None, by: str | None) -> tuple[str, str | None]:
    """Return the keys of the axis and of the curves."""
    values: dict[str, set[str]] = {}
    for key in differing_keys(results):
        with suppress(InputError):  # a result that does not have it
            values[key] = {key_text(result, key) for result in results}
    free = sorted(
        (key for key in values if key not in (x, by)),
        key=lambda key: (
            key == _SEED,
            any(_order(value)[0] for value in values[key]),
            -len(values[key]),
        ),
    )
    if x is None:
        if not free:
            raise InputError("the results are of the same scenario, expected --x KEY")
        x = free.pop(0)
        if by is None and free and free[0] != _SEED:
            by = free[0]
    return x, by


def _check_equal(first: Result, result: Result, x: str, by: str | None) -> None:
    """Check that two results at the same place of a curve differ in nothing but the seed."""
    if other := sorted({*differing_keys([first, result])} - {_SEED}):
        same = x if by is None else f"{x} and {by}"
        raise InputError(
            f"results with the same {same} differ in {', '.join(other)}: expected results that "
            "differ in --x and --by only, and in the seed"
        )


def key_text(result: Result, path: str) -> str:
    """Return the value of a key of the scenario of a result as text.

    Raises
    ------
    InputError
        The scenario has no such key.
    """
    value: Any = result.scenario
    for key in key_path(path):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            name = result.scenario.get("name")
            raise InputError(f"{path}: the scenario of {name} has no such key") from None
    return value_text(value)


def _order(text: str) -> tuple[int, float, str]:
    """Return a key to sort values by: numbers and quantities by their size, then names."""
    for kind in (units.SIZE, units.TIME, units.RATE, units.BYTE_RATE, units.COMPUTE):
        try:
            return 0, float(units.parse(text, kind)), text
        except ValueError:
            continue
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def _ticks(numbers: Mapping[str, float]) -> dict[str, Any]:
    """Return the ticks of an axis with the values as the scenarios write them."""
    places = sorted(numbers.values())
    is_wide = places[0] > 0 and places[-1] > _WIDE * places[0]
    return {
        "type": "log" if is_wide else "linear",
        "tickvals": list(numbers.values()),
        "ticktext": list(numbers),
    }
