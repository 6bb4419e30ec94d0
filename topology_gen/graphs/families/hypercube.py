"""Hypercubes, also twisted: nodes are binary numbers, linked to those that differ in one bit."""

from __future__ import annotations

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_size, exact_log


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
