"""The charts of time series: queues and throughput of links, congestion windows of flows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.present.charts import Chart
from bridge.present.figure import COLORS
from bridge.present.link_map import node_names
from bridge.present.quantities import scaled_unit, time_unit
from bridge.results.result import Result

#: Curves in a chart: those with the highest peaks.
_CURVES = 8

#: Points of a curve at most. Of the samples that share a point, the greatest counts.
_POINTS = 1000

_DASHES = ("solid", "dash")


def queues(result: Result) -> Chart | None:
    """Return the queues over time of the links that have the longest ones."""
    return _chart(result, "queue", "link_series", "link", ("queue_bytes", "B"), "Queues of links")


def throughput(result: Result) -> Chart | None:
    """Return the throughput over time of the links that have the highest one."""
    column = ("throughput_bps", "bit/s")
    return _chart(result, "throughput", "link_series", "link", column, "Throughput of links")


def windows(result: Result) -> Chart | None:
    """Return the congestion windows over time of the flows that have the largest ones."""
    column = ("cwnd_bytes", "B")
    return _chart(result, "cwnd", "flow_series", "path", column, "Congestion windows of flows")


def round_trips(result: Result) -> Chart | None:
    """Return the latest round trips over time of the flows that have the longest ones."""
    return _chart(result, "RTT", "flow_series", "path", ("rtt_ns", "ns"), "Round trips of flows")


def _chart(
    result: Result, name: str, table: str, key: str, column: tuple[str, str], title: str
) -> Chart | None:
    """Return a column of a table of samples, with a curve for each link or flow.

    Parameters
    ----------
    result : Result
        A result with time series in its folder.
    name, title : str
        Of the chart.
    table, key : str
        The table, and its column that tells curves apart.
    column : (str, str)
        The column of the values, and their unit.
    """
    samples = result.tables.numbers(table, ("time_ns", key, "source", "target", column[0]))
    if samples is None or not samples.size:
        return None
    ids, first, curve = np.unique(samples[:, 1], return_index=True, return_inverse=True)
    peaks = np.zeros(len(ids))
    np.maximum.at(peaks, curve, samples[:, 4])
    shown = np.argsort(-peaks, kind="stable")[:_CURVES]
    time, ns = time_unit(float(samples[:, 0].max()))
    largest = float(peaks.max())
    unit, scale = time_unit(largest) if column[1] == "ns" else scaled_unit(largest, column[1])
    names = node_names(result)
    traces: list[dict[str, Any]] = []
    for number, chosen in enumerate(shown.tolist()):
        ends = samples[first[chosen], 2:4].astype(np.int64).tolist()
        source, target = (names[node] if names else f"node {node}" for node in ends)
        times, values = _thinned(samples[curve == chosen][:, (0, 4)])
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{source} → {target} ({key} {int(ids[chosen])})",
                "x": (times / ns).round(6).tolist(),
                "y": (values / scale).round(6).tolist(),
                "line": {
                    "color": COLORS[number % len(COLORS)],
                    "dash": _DASHES[number // 4 % len(_DASHES)],
                    "width": 1.5,
                },
                "hovertemplate": f"%{{x:.6~g}} {time}: %{{y:.4~g}} {unit}"
                "<extra>%{fullData.name}</extra>",
            }
        )
    layout = {
        "height": 380,
        "xaxis": {"title": {"text": f"simulated time [{time}]"}},
        "yaxis": {"title": {"text": f"{name} [{unit}]"}, "rangemode": "tozero"},
    }
    rest = f", the {len(shown)} highest of {len(ids)}" if len(ids) > len(shown) else ""
    return Chart(name, f"{title} over time{rest}", traces, layout)


def _thinned(
    samples: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values with at most `_POINTS` points, each the peak of its samples."""
    every = -(-len(samples) // _POINTS)
    begins = np.arange(0, len(samples), every)
    return samples[begins, 0], np.maximum.reduceat(samples[:, 1], begins)
