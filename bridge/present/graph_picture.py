"""Draws direct-connect topologies."""

from __future__ import annotations

import os
from collections import Counter
from math import cos, pi, sin
from typing import TYPE_CHECKING

from bridge.errors import InputError
from bridge.present.plot import new_figure, save

if TYPE_CHECKING:
    from topology_gen.graphs.digraph import Digraph

MOST_LINKS = 4096
"""Greatest number of links in a picture; more would be one black area."""


def draw_graph(graph: Digraph, path: str | os.PathLike[str]) -> None:
    """Draw the nodes of a topology on a circle, and the links between them.

    A line without arrows is a pair of links, one each way. Parallel links are curved apart, and a
    self-loop is a ring outside its node.

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
    if graph.links > MOST_LINKS:
        raise InputError(f"{graph.links} links: expected at most {MOST_LINKS} for a picture")
    size = min(16.0, 4 + 0.08 * graph.nodes)
    figure = new_figure(size, size)
    axes = figure.subplots()
    angles = [pi / 2 - 2 * pi * node / graph.nodes for node in range(graph.nodes)]
    places = [(cos(angle), sin(angle)) for angle in angles]
    links = Counter(graph.edges())
    for (source, target), count in sorted(links.items()):
        both_ways = links[target, source] == count
        if source == target:
            x, y = places[source]
            for ring in range(count):
                axes.plot(
                    *_ring(x * 1.08, y * 1.08, 0.05 + 0.02 * ring), color="#4477aa", linewidth=0.8
                )
        elif not both_ways or source < target:
            for number in range(count):
                bend = 0.12 * (number - (count - 1) / 2) + (0 if both_ways else 0.08)
                axes.annotate(
                    "",
                    xy=places[target],
                    xytext=places[source],
                    arrowprops={
                        "arrowstyle": "-" if both_ways else "-|>",
                        "connectionstyle": f"arc3,rad={bend}",
                        "color": "#4477aa",
                        "linewidth": 0.8,
                        "shrinkA": 7,
                        "shrinkB": 7,
                    },
                )
    xs, ys = zip(*places, strict=True)
    axes.scatter(xs, ys, s=150, color="#ffffff", edgecolors="#222222", zorder=3)
    for node, (x, y) in enumerate(places):
        axes.text(x, y, str(node), ha="center", va="center", fontsize=6, zorder=4)
    axes.set_title(graph.name)
    axes.set_aspect("equal")
    axes.set_xlim(-1.2, 1.2)
    axes.set_ylim(-1.2, 1.2)
    axes.axis("off")
    save(figure, path)


def _ring(x: float, y: float, radius: float) -> tuple[list[float], list[float]]:
    turns = [2 * pi * i / 32 for i in range(33)]
    return [x + radius * cos(turn) for turn in turns], [y + radius * sin(turn) for turn in turns]
