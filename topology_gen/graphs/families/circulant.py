"""Circulant graphs: nodes on a circle, linked in both directions to those at given offsets."""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_offsets


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
    return least, least + 1
