"""Tori: Cartesian products of rings, also with a twist."""

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


def twisted_torus(side: int, dimensions: int = 2) -> Digraph:
    """Return the twisted torus a × 2a or a × a × 2a.

    Nodes are in row-major order. The rings of the last dimension close as in a torus. The rings of
    the other dimensions shift the last coordinate by a where they close. The digraph is a Cayley
    graph of an Abelian group.

    Parameters
    ----------
    side : int
        The side a, at least 2.
    dimensions : int
        Number of dimensions, 2 or 3.

    Raises
    ------
    ParameterError
        The side is too small or too large, or the number of dimensions is neither 2 nor 3.

    See Also
    --------
    torus

    References
    ----------
    J. M. Cámara et al., "Twisted torus topologies for enhanced interconnection networks", IEEE
    Transactions on Parallel and Distributed Systems 21 (2010).

    Examples
    --------
    >>> graph = twisted_torus(4)
    >>> graph.nodes, graph.degree, graph.diameter
    (32, 4, 4)
    """
    check_least(2, side=side)
    if dimensions not in (2, 3):
        raise ParameterError(
            f"{dimensions} dimensions of a twisted torus: expected 2 or 3", "dimensions"
        )
    nodes = 2 * side**dimensions
    check_size(nodes, 2 * dimensions)
    every = np.arange(nodes)
    last = every % (2 * side)
    rules = []
    for place in range(dimensions - 1):
        unit = 2 * side ** (dimensions - 1 - place)
        coordinate = every // unit % side
        for direction in (1, -1):
            moved = (coordinate + direction) % side
            wraps = abs(moved - coordinate) != 1 if side > 2 else coordinate == (direction > 0)
            shifted = np.where(wraps, (last + side) % (2 * side), last)
            rules.append(every + (moved - coordinate) * unit + shifted - last)
    rules += [every - last + (last + direction) % (2 * side) for direction in (1, -1)]
    sides = (side,) * (dimensions - 1) + (2 * side,)
    name = f"TwistedTorus({'x'.join(map(str, sides))})"
    return from_rules(name, nodes, rules, True, grid=sides)
