"""Torus: the Cartesian product of rings."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


def torus(dims: Sequence[int]) -> Digraph:
    """Return the torus of bidirectional rings of the given lengths.

    Nodes are in row-major order. A ring of length 2 has one link in each direction, not two.

    Parameters
    ----------
    dims : sequence of int
        The lengths of the rings, each at least 2.

    Raises
    ------
    ParameterError
        There are no lengths, one is too small, or there are too many links.

    See Also
    --------
    unidirectional_torus, twisted_torus, hypercube

    Examples
    --------
    >>> graph = torus([3, 4])
    >>> graph.nodes, graph.degree, graph.diameter
    (12, 4, 3)
    """
    return _product("Torus", dims, (1, -1))


def unidirectional_torus(dims: Sequence[int]) -> Digraph:
    """Return the torus of unidirectional rings of the given lengths.

    Nodes are in row-major order.

    Parameters
    ----------
    dims : sequence of int
        The lengths of the rings, each at least 2.

    Raises
    ------
    ParameterError
        There are no lengths, one is too small, or there are too many links.

    See Also
    --------
    torus

    Examples
    --------
    >>> graph = unidirectional_torus([4, 8])
    >>> graph.nodes, graph.degree, graph.diameter
    (32, 2, 10)
    """
    return _product("UniTorus", dims, (1,))


def _product(kind: str, dims: Sequence[int], directions: tuple[int, ...]) -> Digraph:
    if not dims:
        raise ParameterError("no dimensions: expected at least one length", "dims")
    for length in dims:
        check_least(2, length=length)
    nodes = prod(dims)
    check_size(nodes, len(directions) * len(dims))
    every = np.arange(nodes)
    rules = []
    unit = nodes
    for length in dims:
        unit //= length
        place = every // unit % length
        for direction in directions[:1] if length == 2 else directions:
            rules.append(every + ((place + direction) % length - place) * unit)
    name = "x".join(str(length) for length in dims)
    return from_rules(f"{kind}({name})", nodes, rules, True, grid=tuple(dims))
