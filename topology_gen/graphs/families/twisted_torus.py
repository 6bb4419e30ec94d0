"""Twisted torus: a torus whose short rings, where they close, shift the long coordinate."""

from __future__ import annotations

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


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
