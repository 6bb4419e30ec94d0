"""Draws topologies, with nodes at the places of their family, and the traffic of a job on them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bridge.errors import InputError
from bridge.present.pictures.figure import COLORS, bare, legend_below, new_figure, save
from bridge.present.pictures.graph_places import Places, circle, grid, tiers
from bridge.present.quantities import scaled_text, time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topology_gen.graphs.digraph import Digraph
    from topology_gen.networks.network import Network


MOST_LINKS = 4096
"""Greatest number of links in a picture; more would be one black area."""

NEAR = 0.35
"""Inches between the two nearest nodes, if the picture is not too large."""

LARGEST, SMALLEST = 16.0, 3.0
"""Inches of the longer side of a picture."""

READABLE = 3.0
"""Points; a smaller label is left out."""


@dataclass(frozen=True)
class _Line:
    """A drawn link, or a pair of links, one each way."""

    source: int
    target: int
    number: int
    """Its index among the lines between the same nodes."""
    count: int
    """How many lines join these nodes."""
    both_ways: bool
    kind: int
    """Index of its colour and its name in the legend."""


def draw_graph(graph: Digraph, path: str | os.PathLike[str]) -> None:
    """Draw a topology without switches: in a grid if its family has one, or else on a circle.

    A line without an arrow is a pair of links, one each way. Parallel links are curved apart, and a
    link around other nodes is curved, too. A self-loop is a ring beside its node.

    Parameters
    ----------
    graph : Digraph
    path : path
        The picture to write; the file extension selects the format (svg, png, pdf).

    Raises
    ------
    InputError
        There are too many links, matplotlib is not installed, or the file cannot be written.
    """
    _check_size(graph.links)
    places = grid(graph.grid) if len(graph.grid) > 1 else circle(graph.nodes)
    labels = [str(node) for node in range(graph.nodes)]
    lines = _lines([(*edge, 0) for edge in graph.edges()])
    _draw(graph.name, places, graph.nodes, labels, lines, (), path)


def draw_network(network: Network, title: str, path: str | os.PathLike[str]) -> None:
    """Draw a network with switches in tiers above the ranks; the legend has the rates of its links.

    Parameters
    ----------
    network : Network
    title : str
        The title.
    path : path
        As for `draw_graph`.

    Raises
    ------
    InputError
        As for `draw_graph`.
    """
    _check_size(network.links)
    kinds, kind = np.unique(
        np.stack([network.dimension, network.rate_bps, network.latency_ps], axis=1),
        axis=0,
        return_inverse=True,
    )
    names = [
        f"{network.dimensions[int(dimension)]}: {scaled_text(rate, 'bit/s')}, "
        f"{time_text(latency / 1000)}"
        for dimension, rate, latency in kinds.tolist()
    ]
    ends = np.stack([network.source, network.target], axis=1)
    edges = [(*pair, own) for pair, own in zip(ends.tolist(), kind.ravel().tolist(), strict=True)]
    labels = [name.removeprefix("rank") for name in network.node_names]
    places = tiers(network.ranks, network.nodes, ends, network.dimension)
    _draw(title, places, network.ranks, labels, _lines(edges), names, path)


def _check_size(links: int) -> None:
    if links > MOST_LINKS:
        raise InputError(f"{links} links: expected at most {MOST_LINKS} for a picture")


def _lines(edges: Sequence[tuple[int, int, int]]) -> list[_Line]:
    """Return the lines for links of (source, target, kind)."""
    links = Counter(edges)
    lines = []
    for (source, target, kind), count in sorted(links.items()):
        both_ways = links[target, source, kind] == count
        if not both_ways or source <= target:
            lines += [
                _Line(source, target, number, count, both_ways, kind) for number in range(count)
            ]
    return lines


def _draw(
    title: str,
    places: Places,
    ranks: int,
    labels: Sequence[str],
    lines: Sequence[_Line],
    names: Sequence[str],
    path: str | os.PathLike[str],
) -> None:
    nearest = _nearest(places)
    margin = nearest
    width, height = np.ptp(places, axis=0) + 2 * margin
    # Inches per unit of the places.
    scale = min(LARGEST / max(width, height), max(NEAR / nearest, SMALLEST / max(width, height)))
    radius = min(0.33 * nearest, 0.14 / scale)
    figure = new_figure(max(width * scale, 2.5), height * scale + 0.4 + 0.22 * len(names))
    axes = figure.subplots()
    axes.set_title(title, fontsize="medium")
    axes.set_aspect("equal")
    low, high = places.min(axis=0) - margin, places.max(axis=0) + margin
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.axis("off")
    for kind in range(max(len(names), 1)):
        color = COLORS[kind % len(COLORS)]
        _draw_lines(axes, [line for line in lines if line.kind == kind], places, radius, color)
        if names:
            axes.plot([], [], color=color, label=names[kind])
    legend_below(figure, axes)
    _draw_nodes(axes, places, ranks, labels, radius, radius * scale * 72)
    save(figure, path)


def _nearest(places: Places) -> float:
    """Return the distance between the two nearest nodes."""
    from scipy.spatial import KDTree

    if len(places) < 2:
        return 1.0
    distances = np.asarray(KDTree(places).query(places, k=2)[0])
    return float(distances[:, 1].min())


def _draw_lines(
    axes: Axes, lines: Sequence[_Line], places: Places, radius: float, color: str
) -> None:
    from matplotlib.collections import PathCollection, PolyCollection
    from matplotlib.path import Path

    curves, heads = [], []
    for line in lines:
        source, target = places[line.source], places[line.target]
        if line.source == line.target:
            away = source - places.mean(axis=0)
            ring = radius * (1 + 0.3 * line.number)
            center = source + away / (np.hypot(*away) or 1.0) * 0.8 * (radius + ring)
            curves.append(Path.circle(tuple(center), ring))
            continue
        middle = (source + target) / 2 + _bend(line, places, radius)
        curves.append(Path([source, middle, target], [Path.MOVETO, Path.CURVE3, Path.CURVE3]))
        if not line.both_ways:
            heads.append(_arrow_head(middle, target, radius))
    axes.add_collection(
        PathCollection(curves, facecolors="none", edgecolors=color, linewidths=0.8, zorder=1)
    )
    if heads:
        axes.add_collection(PolyCollection(heads, facecolors=color, zorder=2))


def _bend(line: _Line, places: Places, radius: float) -> NDArray[np.float64]:
    """Return how far the middle of a curve is beside the straight line."""
    source, target = places[line.source], places[line.target]
    along = target - source
    length = np.hypot(*along)
    aside = np.array([-along[1], along[0]]) / length
    offset = 2.5 * radius * (line.number - (line.count - 1) / 2)
    if not line.both_ways:
        offset += 1.2 * radius
    # A straight line would cross the nodes that lie on it.
    relative = places - source
    part = relative @ along / length
    beside = np.abs(relative @ aside)
    if np.any((part > radius) & (part < length - radius) & (beside < radius)):
        offset += 4 * radius
    bend: NDArray[np.float64] = offset * aside
    return bend


def _arrow_head(middle: Places, target: Places, radius: float) -> Places:
    """Return the triangle at the end of a curve, at the edge of the node."""
    along = target - middle
    along = along / np.hypot(*along)
    aside = np.array([-along[1], along[0]])
    tip = target - along * radius
    base = tip - 0.7 * along * radius
    return np.stack([tip, base + 0.35 * aside * radius, base - 0.35 * aside * radius])


def _draw_nodes(
    axes: Axes, places: Places, ranks: int, labels: Sequence[str], radius: float, points: float
) -> None:
    """Draw ranks as circles and switches as boxes; `points` is the radius in points."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Circle, Rectangle

    shapes: list[Circle | Rectangle] = [Circle(tuple(place), radius) for place in places[:ranks]]
    for place in places[ranks:]:
        corner = (place[0] - 1.4 * radius, place[1] - radius)
        shapes.append(Rectangle(corner, 2.8 * radius, 2 * radius))
    axes.add_collection(
        PatchCollection(shapes, facecolor="#ffffff", edgecolor="#222222", linewidth=0.8, zorder=3)
    )
    for node, ((x, y), label) in enumerate(zip(places, labels, strict=True)):
        room = points * (2.0 if node < ranks else 2.8)
        size = min(points, 1.5 * room / max(len(label), 1), 9.0)
        if size >= READABLE:
            axes.text(x, y, label, ha="center", va="center", fontsize=size, zorder=4)


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
