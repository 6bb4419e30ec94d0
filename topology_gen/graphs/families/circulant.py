"""Circulant graphs: nodes on a circle, linked to those at given offsets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf, isqrt

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_offsets

STARTS = 4
"""Number of starts of the search for offsets."""


def circulant(nodes: int, offsets: Sequence[int] | None = None) -> Digraph:
    """Return the circulant graph C(n,{a1, …}): node i is linked to i ± a for each offset a.

    An offset of n/2 makes two parallel links, so that the degree is always twice the number of
    offsets.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2.
    offsets : sequence of int, optional
        Offsets from 1 to n-1 that do not all share a factor with n. By default, the two offsets of
        `least_diameter_offsets`.

    Raises
    ------
    ParameterError
        An offset is out of range, or the offsets leave nodes unconnected.

    See Also
    --------
    directed_circulant, shifted_ring

    Examples
    --------
    >>> graph = circulant(12, [2, 3])
    >>> graph.degree, graph.diameter
    (4, 2)
    >>> circulant(12).name
    'C(12,{2,3})'
    """
    if offsets is None:
        offsets = least_diameter_offsets(nodes)
    check_offsets(nodes, offsets)
    every = np.arange(nodes)
    rules = [(every + sign * offset) % nodes for offset in offsets for sign in (1, -1)]
    listed = ",".join(str(offset) for offset in offsets)
    return from_rules(f"C({nodes},{{{listed}}})", nodes, rules, vertex_transitive=True)


def least_diameter_offsets(nodes: int) -> tuple[int, int]:
    """Return the two offsets m and m+1 for which a circulant graph has the least diameter, m.

    m is the least number with 2m² + 2m + 1 ≥ n, the size of a ball of radius m in a square grid.
    For 6 nodes, it is one less: the diameter is the same, and no links are parallel.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 3.

    Raises
    ------
    ParameterError
        There are fewer than 3 nodes, so no two different offsets exist.

    Examples
    --------
    >>> least_diameter_offsets(1024)
    (23, 24)
    """
    check_least(3, nodes=nodes)
    least = (isqrt(2 * nodes - 1) - 1) // 2
    while 2 * least * (least + 1) + 1 < nodes:
        least += 1
    if nodes == 2 * (least + 1) and least > 1:
        least -= 1  # 6 nodes: the offset 3 would lead to the same node in both directions
    return least, least + 1


def least_distance_offsets(nodes: int, count: int) -> tuple[int, ...]:
    """Return offsets for which a circulant graph has a small diameter and small distances.

    Every offset in turn is replaced by the best one, until none is better. The result is the best
    of several starts, which are the same in every call; it need not be the best of all.

    Parameters
    ----------
    nodes : int
        Number n of nodes, more than twice the number of offsets.
    count : int
        Number of offsets, at least 1.

    Raises
    ------
    ParameterError
        There are too few nodes for different offsets below n/2, or no offsets.

    Examples
    --------
    >>> offsets = least_distance_offsets(64, 3)
    >>> circulant(64, offsets).diameter, circulant(64).diameter
    (4, 6)
    """
    check_least(1, offsets=count)
    check_least(2 * count + 1, nodes=nodes)
    source = random.Random(f"{nodes},{count}")
    every = range(1, (nodes + 1) // 2)
    return min(
        (_improved(nodes, source.sample(every, count)) for _ in range(STARTS)),
        key=lambda offsets: (_distances(nodes, offsets), offsets),
    )


def _improved(nodes: int, offsets: Sequence[int]) -> tuple[int, ...]:
    """Return the offsets after replacing one at a time, as long as distances get less."""
    best, least = tuple(offsets), _distances(nodes, offsets)
    unchanged = 0
    place = 0
    while unchanged < len(best):
        rest = best[:place] + best[place + 1 :]
        unchanged += 1
        for offset in range(1, (nodes + 1) // 2):
            if offset not in rest:
                value = _distances(nodes, (*rest, offset))
                if value < least:
                    best, least, unchanged = (*rest[:place], offset, *rest[place:]), value, 0
        place = (place + 1) % len(best)
    return tuple(sorted(best))


def _distances(nodes: int, offsets: Sequence[int]) -> tuple[float, int]:
    """Return the diameter, infinite if not connected, and the sum of distances from node 0.

    The bits of a number are the nodes of a set; to rotate the bits is to walk along the circle.
    """
    everything = (1 << nodes) - 1
    turns = [*offsets, *(nodes - offset for offset in offsets)]
    reached = layer = 1
    diameter, total = 0, 0
    while reached != everything:
        ahead = 0
        for turn in turns:
            ahead |= layer << turn
        layer = (ahead | ahead >> nodes) & everything & ~reached
        if not layer:
            return inf, 0
        reached |= layer
        diameter += 1
        total += diameter * layer.bit_count()
    return diameter, total


def directed_circulant(nodes: int, offsets: Sequence[int] | None = None) -> Digraph:
    """Return the directed circulant graph DiC(n,{a1, …}): a link from i to i + a for each offset a.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2.
    offsets : sequence of int, optional
        Offsets from 1 to n-1 that do not all share a factor with n. By default 1 … n-2, which makes
        a graph of degree n-2 whose schedule is optimal in steps and in bandwidth.

    Raises
    ------
    ParameterError
        An offset is out of range, or the offsets leave nodes unconnected.

    See Also
    --------
    circulant

    Examples
    --------
    >>> graph = directed_circulant(6)
    >>> graph.name, graph.degree, graph.diameter
    ('DiC(6,{1,2,3,4})', 4, 2)
    """
    if offsets is None:
        if nodes < 3:
            raise ParameterError(f"nodes {nodes} without offsets: expected at least 3", "nodes")
        offsets = range(1, nodes - 1)
    check_offsets(nodes, offsets)
    every = np.arange(nodes)
    rules = [(every + offset) % nodes for offset in offsets]
    listed = ",".join(str(offset) for offset in offsets)
    return from_rules(f"DiC({nodes},{{{listed}}})", nodes, rules, vertex_transitive=True)
