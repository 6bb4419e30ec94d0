"""Draws charts as pictures for print, with matplotlib."""

from __future__ import annotations

import os
from math import nan
from typing import TYPE_CHECKING, Any

from bridge.present.pictures.chart import Chart, Trace
from bridge.present.pictures.figure import LETTER, bare, legend_below, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "cross": "P", "x": "X"}
_STEPS = {"hv": "steps-post"}

WIDTH = 8.0
"""Inches."""

_PIXELS_PER_INCH = 80


def draw_chart(chart: Chart, path: str | os.PathLike[str]) -> None:
    """Draw a chart.

    Parameters
    ----------
    chart : Chart
        Bars, curves or marks.
    path : path
        The picture to write; the file extension selects the format (svg, png, pdf).

    Raises
    ------
    InputError
        matplotlib is not installed, or the extension names no picture format.
    """
    figure = new_figure(WIDTH, max(2.2, chart.layout["height"] / _PIXELS_PER_INCH))
    axes = figure.subplots()
    bars = [trace for trace in chart.traces if trace["type"] == "bar"]
    if bars:
        _draw_bars(axes, bars, chart.layout)
    for trace in chart.traces:
        if trace["type"] == "scatter" and trace.get("marker", {}).get("opacity", 1):
            _draw_scatter(axes, trace)
    _set_axes(axes, chart.layout)
    axes.set_title(chart.caption, fontsize="medium")
    if chart.layout.get("showlegend", True):
        legend = chart.layout.get("legend", {}).get("title", {}).get("text", "")
        legend_below(figure, axes, legend.strip())
    save(figure, path)


def _draw_bars(axes: Axes, traces: list[Trace], layout: dict[str, Any]) -> None:
    """Draw horizontal bars: stacked in their group, with groups side by side, or where they begin.

    A bar that says where it begins has its text in it, if there is room.
    """
    named = dict.fromkeys(name for trace in traces for name in trace["y"])
    rows = layout["yaxis"].get("categoryarray", list(named))
    groups = list(dict.fromkeys(trace.get("offsetgroup", "") for trace in traces))
    height = 0.8 / len(groups)
    ends: dict[tuple[str, str], float] = {}
    for trace in traces:
        group = trace.get("offsetgroup", "")
        shift = (groups.index(group) - (len(groups) - 1) / 2) * height
        pattern = trace["marker"].get("pattern", {})
        starts = trace.get("base") or [ends.get((group, name), 0.0) for name in trace["y"]]
        axes.barh(
            [rows.index(name) + shift for name in trace["y"]],
            trace["x"],
            height,
            starts,
            label=trace["name"] if trace.get("showlegend", True) else None,
            color=trace["marker"]["color"],
            xerr=_whiskers(trace),
            hatch=pattern.get("shape", "") * 3,
            edgecolor=pattern.get("fgcolor", "white"),
            linewidth=trace["marker"].get("line", {}).get("width", 0.3),
        )
        for name, start, value in zip(trace["y"], starts, trace["x"], strict=True):
            ends[group, name] = start + value
    spans = [trace for trace in traces if "base" in trace and "text" in trace]
    if spans:
        _write_in_bars(axes, spans, rows)
    axes.set_yticks(range(len(rows)), rows, fontsize="small")
    axes.set_ylim(len(rows) - 0.5, -0.5)


def _whiskers(trace: Trace) -> list[list[float]] | None:
    """Return how far bars spread below and above their ends, if they do."""
    spread = trace.get("error_x")
    return None if spread is None else [spread["arrayminus"], spread["array"]]


def _write_in_bars(axes: Axes, traces: list[Trace], rows: list[str]) -> None:
    """Write the texts of bars where they fit."""
    bars = [
        bar
        for trace in traces
        for bar in zip(trace["y"], trace["base"], trace["x"], trace["text"], strict=True)
    ]
    end = max(start + length for _, start, length, _ in bars)
    letter = LETTER * 0.8 * (end - min(start for _, start, _, _ in bars)) / (WIDTH - 2)
    for name, start, length, text in bars:
        if len(text) * letter < length:
            middle = (start + length / 2, rows.index(name))
            axes.annotate(text, middle, ha="center", va="center", fontsize=6)


def _draw_scatter(axes: Axes, trace: Trace) -> None:
    x, y = ([nan if value is None else value for value in trace[name]] for name in "xy")
    label = trace["name"] if trace.get("showlegend", True) else None
    if "lines" in trace["mode"]:
        line = trace["line"]
        axes.plot(
            x,
            y,
            label=label,
            color=line["color"],
            linestyle=_DASHES[line.get("dash", "solid")],
            linewidth=line.get("width", 2) / 1.5,
            drawstyle=_STEPS.get(line.get("shape", ""), "default"),
        )
        if "error_y" in trace:
            spread = trace["error_y"]["array"]
            axes.errorbar(x, y, spread, fmt="none", ecolor=line["color"], capsize=3)
        return
    marker = trace["marker"]
    symbols = marker.get("symbol", "circle")
    each = [symbols] * len(x) if isinstance(symbols, str) else symbols
    for symbol in dict.fromkeys(each):
        chosen = [index for index, one in enumerate(each) if one == symbol]
        axes.plot(
            [x[index] for index in chosen],
            [y[index] for index in chosen],
            _MARKERS[symbol],
            label=label,
            color=marker["color"],
            markersize=marker.get("size", 7) / 1.5,
            zorder=3,
        )
    if "text" in trace["mode"]:
        for left, low, text in zip(x, y, trace["text"], strict=True):
            axes.annotate(
                text, (left, low), (0, -10), textcoords="offset points", ha="center", fontsize=6
            )


def _set_axes(axes: Axes, layout: dict[str, Any]) -> None:
    if layout["xaxis"].get("visible") is False:
        axes.set_axis_off()
        if "scaleanchor" in layout["yaxis"]:
            axes.set_aspect("equal")
        return
    for name in "xy":
        axis = layout[f"{name}axis"]
        if axis.get("type") == "log":
            (axes.set_xscale if name == "x" else axes.set_yscale)("log")
        if "title" in axis:
            (axes.set_xlabel if name == "x" else axes.set_ylabel)(axis["title"]["text"])
        if axis.get("rangemode") == "tozero":
            (axes.set_xlim if name == "x" else axes.set_ylim)(0)
        if "range" in axis:
            (axes.set_xlim if name == "x" else axes.set_ylim)(*axis["range"])
        if "tickvals" in axis:
            _set_ticks(axes, axis)
    bare(axes, "x" if not layout["yaxis"].get("title") else "y")


def _set_ticks(axes: Axes, axis: dict[str, Any]) -> None:
    """Write the given texts at the given places of the horizontal axis."""
    from matplotlib.ticker import NullLocator

    texts = axis["ticktext"]
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(axis["tickvals"], texts)
    if LETTER * sum(len(text) + 2 for text in texts) > WIDTH:
        axes.tick_params("x", rotation=30)
