"""Draws the time that each layer of a result computes, communicates and waits."""

from __future__ import annotations

import os

from bridge.errors import InputError
from bridge.present.figure import COLORS, bare, legend_below, new_figure, save
from bridge.results.result import Result

_NS_PER_MS = 1e6

_ROW, _ROWS = 0.28, 10.0
"""Inches of a layer, and of all layers at most."""

_LEAST_LETTERS, _LETTERS = 4.0, 10.0
"""Points of the layers' names at least and at most; with more layers, some have no name."""


def plot_layers(result: Result, path: str | os.PathLike[str]) -> None:
    """Draw two bars for each layer: compute plus exposed communication, and all communication.

    Parameters
    ----------
    result : Result
        A result with at least one layer.
    path : path
        The picture to write; the file extension selects the format (svg, png, pdf).

    Raises
    ------
    InputError
        matplotlib is not installed, the extension names no picture format, or the result has no
        layers.
    """
    if not result.layers:
        raise InputError(
            "the result has no layers to plot, expected the result of a training workload"
        )
    names = [layer.name for layer in result.layers]
    rows = range(len(names))
    compute = [layer.compute_ns / _NS_PER_MS for layer in result.layers]
    exposed = [layer.exposed_comm_ns / _NS_PER_MS for layer in result.layers]
    raw = [layer.raw_comm_ns / _NS_PER_MS for layer in result.layers]

    row_height = min(_ROW, _ROWS / len(names))
    figure = new_figure(8, 1.7 + row_height * len(names))
    axes = figure.subplots()
    height = 0.4
    upper = [row - height / 2 for row in rows]
    lower = [row + height / 2 for row in rows]
    axes.barh(upper, compute, height, label="compute", color=COLORS[0])
    axes.barh(upper, exposed, height, compute, label="exposed communication", color=COLORS[1])
    axes.barh(lower, raw, height, label="raw communication", color="#bbbbbb")
    points = 0.8 * 72 * row_height
    every = max(1, round(_LEAST_LETTERS / points))
    letters = min(_LETTERS, points * every)
    axes.set_yticks(list(rows)[::every], names[::every], fontsize=letters)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlabel("simulated time over all iterations [ms]")
    axes.set_title(str(result.scenario.get("name", "")))
    bare(axes, "x")
    legend_below(figure, axes)
    save(figure, path)
