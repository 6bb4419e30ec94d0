"""Tori and hypercubes, also twisted ones."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, exact_log


def hypercube(nodes: int) -> Digraph:
    """Return the hypercube: each node is linked to those whose number differs in one bit.

    Parameters
    ----------
    nodes : int
        Number of nodes, a power of two, at least 2. Its exponent is the degree and the diameter.

    Raises
    ------
    ParameterError
        The number of nodes is not a power of two, or there are too many links.

    See Also
    --------
    twisted_hypercube, hamming, torus

    Examples
    --------
    >>> graph = hypercube(16)
    >>> graph.degree, graph.diameter
    (4, 4)
    """
    dimensions = exact_log(nodes, 2, "nodes")
    check_size(nodes, dimensions)
    every = np.arange(nodes)
    rules = [every ^ (1 << bit) for bit in range(dimensions)]
    return from_rules(f"Hypercube(2^{dimensions})", nodes, rules, True, grid=(2,) * dimensions)


def twisted_hypercube(nodes: int) -> Digraph:
    """Return the twisted hypercube: a hypercube with two links exchanged.

    With h = nodes/2, the links h – h+1 and h+2 – h+3 are replaced by h – h+3 and h+1 – h+2.

    Parameters
    ----------
    nodes : int
        Number of nodes, a power of two, at least 8. Its exponent is the degree; the diameter is
        one less.

    Raises
    ------
    ParameterError
        The number of nodes is not a power of two, or is below 8.

    See Also
    --------
    hypercube

    References
    ----------
    A.-H. Esfahanian, L. Ni, B. Sagan, "The twisted n-cube with application to multiprocessing",
    IEEE Transactions on Computers 40 (1991).

    Examples
    --------
    >>> graph = twisted_hypercube(8)
    >>> graph.degree, graph.diameter
    (3, 2)
    """
    cube = hypercube(nodes)
    if nodes < 8:
        raise ParameterError(f"nodes {nodes} of a twisted hypercube: expected at least 8", "nodes")
    target = cube.target.copy()
    corner = nodes // 2 + np.arange(4)
    target[corner] = corner[::-1]  # the first links in the list are those that change bit 0
    name = f"TwistedHypercube(2^{cube.degree})"
    return Digraph(name, nodes, cube.source, target, grid=cube.grid)


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
