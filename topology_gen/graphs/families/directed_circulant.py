"""Directed circulant graphs: nodes on a circle, linked to the nodes at given offsets ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_offsets


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
