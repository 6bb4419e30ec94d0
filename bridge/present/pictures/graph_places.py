"""Where a picture shows the nodes of a topology: on a circle, in a grid, or in tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.float64]
"""The x and y of every node; shape (nodes, 2)."""

DEPTH = (0.75, 0.55)
"""The shift of the last place of a third dimension, which is drawn obliquely, over its length."""

GAP = 1.2
"""The space between the grids of a fourth and further dimensions."""


def circle(nodes: int) -> Places:
    """Return places on a circle, clockwise from the top, with a distance of 1 between neighbours.

    Examples
    --------
    >>> circle(4).round(2).tolist()
    [[0.0, 0.71], [0.71, 0.0], [0.0, -0.71], [-0.71, -0.0]]
    """
    radius = 0.5 / np.sin(np.pi / max(nodes, 2))
    angles = np.pi / 2 - 2 * np.pi * np.arange(nodes) / nodes
    places: Places = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return places


def grid(lengths: Sequence[int]) -> Places:
    """Return the places of a grid in row-major order.

    The last dimension is drawn from left to right, the one before from top to bottom, and the third
    last obliquely. Further dimensions repeat this picture side by side and one below the other.

    Examples
    --------
    >>> grid([2, 3]).tolist()
    [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, -1.0], [1.0, -1.0], [2.0, -1.0]]
    """
    places = np.zeros((1, 2))
    for dimension, length in enumerate(reversed(lengths)):
        width, height = np.ptp(places, axis=0)
        match dimension:
            case 0:
                step = (1.0, 0.0)
            case 1:
                step = (0.0, -1.0)
            case 2:
                step = (DEPTH[0] / length, DEPTH[1] / length)
            case _:
                step = (width + GAP, 0.0) if dimension % 2 else (0.0, -height - GAP)
        shifts = np.arange(length)[:, None] * np.array(step)
        places = (shifts[:, None, :] + places[None, :, :]).reshape(-1, 2)
    return places


def tiers(
    ranks: int, nodes: int, ends: NDArray[np.integer[Any]], dimension: NDArray[np.integer[Any]]
) -> Places:
    """Return the places of a network with switches: ranks at the bottom, switches in tiers above.

    A switch is in a higher tier the more hops it is from the ranks. Switches of a later dimension
    are above those of the earlier ones.

    Parameters
    ----------
    ranks, nodes : int
        How many there are; the first nodes are the ranks.
    ends : array, shape (links, 2)
        The source and the target of each link.
    dimension : array, shape (links,)
        The dimension of each link.
    """
    tier = _tier_of(ranks, nodes, ends, dimension)
    places = np.zeros((nodes, 2))
    places[:ranks, 0] = np.arange(ranks)
    height = 0.0
    for number in range(1, tier.max() + 1):
        members = np.flatnonzero(tier == number)
        below = ends[np.isin(ends[:, 0], members) & (tier[ends[:, 1]] < number)]
        sums = np.bincount(below[:, 0], places[below[:, 1], 0], nodes)
        counts = np.bincount(below[:, 0], minlength=nodes)
        mean = sums[members] / np.maximum(counts[members], 1)
        order = members[np.argsort(mean, kind="stable")]
        places[order, 0] = (np.arange(order.size) + 0.5) * ranks / order.size - 0.5
        # The wider the links spread, the higher the tier, so that they pass beside other nodes.
        spread = np.abs(places[below[:, 0], 0] - places[below[:, 1], 0])
        height += max(1.5, float(spread.max(initial=0)) / 2)
        places[order, 1] = height
    return places


def _tier_of(
    ranks: int, nodes: int, ends: NDArray[np.integer[Any]], dimension: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return the tier of every node: ranks first, then by dimension and by hops from the ranks."""
    hops = np.full(nodes, nodes)
    hops[:ranks] = 0
    for distance in range(1, nodes):
        reached = ends[hops[ends[:, 0]] == distance - 1, 1]
        reached = reached[hops[reached] == nodes]
        if not reached.size:
            break
        hops[reached] = distance
    highest = np.zeros(nodes, np.int64)
    np.maximum.at(highest, ends[:, 0], dimension.astype(np.int64))
    highest[:ranks] = 0
    return np.unique(highest * (nodes + 1) + hops, return_inverse=True)[1]
