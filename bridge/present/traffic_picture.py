"""Draws a job's traffic: its matrix, its path lengths, and the load of its links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bridge.present.figure import COLORS, bare, new_figure, save
from bridge.present.quantities import scaled_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Steps = Sequence[tuple[float, float]]
"""A cumulative distribution: (value, fraction up to the value), in ascending order of values."""

_WIDE = 100.0
"""From this ratio of the greatest to the least value, a scale is logarithmic."""


def plot_traffic(
    matrix: NDArray[np.float64],
    path_lengths: Steps,
    link_bytes: Steps,
    path: str | os.PathLike[str],
) -> None:
    """Draw a heatmap of the traffic, and the distributions of path lengths and of link loads.

    Parameters
    ----------
    matrix : array, shape (n, n)
        Bytes that each server (row) sends to each other server (column).
    path_lengths, link_bytes : sequence of (value, fraction)
        Cumulative distributions.
    path : path
        The picture to write; the file extension selects the format (svg, png, pdf).

    Raises
    ------
    InputError
        matplotlib is not installed, or the extension names no picture format.
    """
    figure = new_figure(12, 4)
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    heat, lengths, links = figure.subplots(1, 3)
    _draw_matrix(heat, matrix)
    _draw_steps(lengths, path_lengths)
    lengths.set_xlabel("path length [hops]")
    lengths.xaxis.set_major_locator(MaxNLocator(integer=True))
    _draw_steps(links, link_bytes)
    links.set_xlabel("load of a link")
    links.xaxis.set_major_locator(MaxNLocator(4))
    links.xaxis.set_major_formatter(FuncFormatter(_bytes_text))
    save(figure, path)


def _draw_matrix(axes: Axes, matrix: NDArray[np.float64]) -> None:
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    used = matrix[matrix > 0]
    wide = used.size > 0 and used.max() >= _WIDE * used.min()
    image = axes.imshow(
        np.where(matrix > 0, matrix, np.nan), cmap="viridis", norm=LogNorm() if wide else None
    )
    axes.set_xlabel("to server")
    axes.set_ylabel("from server")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    assert axes.figure is not None
    bar = axes.figure.colorbar(image, ax=axes, label="from a server to another")
    bar.ax.yaxis.set_major_formatter(FuncFormatter(_bytes_text))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    if used.size and used.min() == used.max():
        # One value has no scale.
        bar.ax.yaxis.set_major_locator(FixedLocator([used.min()]))


def _draw_steps(axes: Axes, steps: Steps) -> None:
    values = [value for value, _ in steps]
    axes.step([0.0, *values], [0.0, *(part for _, part in steps)], where="post", color=COLORS[0])
    axes.set_xlim(0, 1.02 * max(values, default=1.0) or 1.0)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("CDF")
    bare(axes, "y")


def _bytes_text(value: float, _: int | None) -> str:
    return scaled_text(value, "B") if value else "0"
