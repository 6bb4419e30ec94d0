"""The picture of a job's traffic: who sends to whom, how far, and how evenly links are loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bridge.present.plot import new_figure, save

Steps = Sequence[tuple[float, float]]
"""A cumulative distribution: values, ascending, and the fraction up to each."""

_COLOR = "#4477aa"


def plot_traffic(
    matrix: NDArray[np.float64],
    path_lengths: Steps,
    link_bytes: Steps,
    path: str | os.PathLike[str],
) -> None:
    """Draw a heatmap, and the distributions of path lengths and of links' bytes beside it.

    Parameters
    ----------
    matrix : array, shape (n, n)
        Bytes from row to column.
    path_lengths, link_bytes : sequence of (value, fraction)
        Cumulative distributions.
    path : path
        The picture; its ending chooses the format (svg, png, pdf).

    Raises
    ------
    InputError
        If matplotlib is not installed, or the ending is no picture's.
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
