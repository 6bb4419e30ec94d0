"""Draws a job's traffic: its matrix, its path lengths, and the load of its links."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bridge.present.plot import new_figure, save

Steps = Sequence[tuple[float, float]]
"""A cumulative distribution: (value, fraction up to the value), in ascending order of values."""

_COLOR = "#4477aa"


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
    heat, lengths, links = figure.subplots(1, 3)
    image = heat.imshow(np.where(matrix > 0, matrix, np.nan), cmap="viridis")
    heat.set_xlabel("to server")
    heat.set_ylabel("from server")
    figure.colorbar(image, ax=heat, label="bytes")
    for axes, steps, label in (
        (lengths, path_lengths, "path length [hops]"),
        (links, link_bytes, "bytes of a link"),
    ):
        values = [value for value, _ in steps]
        axes.step([0.0, *values], [0.0, *(part for _, part in steps)], where="post", color=_COLOR)
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(label)
        axes.set_ylabel("CDF")
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)
