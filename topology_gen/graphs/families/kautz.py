"""Kautz graphs and their generalization to any number of nodes: low diameter, one way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


def generalized_kautz(degree: int, nodes: int) -> Digraph:
    """Return Π(d,m): links from x to (-d·x - a) mod m for a = 1 … d.

    There are self-loops, unless d+1 divides m; parallel links if m < d.

    Parameters
    ----------
    degree : int
        d, at least 1.
    nodes : int
        m, at least 2.

    Raises
    ------
    ParameterError
        A parameter that is too small, or more links than fit.

    See Also
    --------
    kautz : where m = dᵏ + dᵏ⁻¹

    References
    ----------
    M. Imase, M. Itoh, "A design for directed graphs with minimum diameter", IEEE Transactions on
    Computers 32 (1983).

    Examples
    --------
    >>> graph = generalized_kautz(4, 1000)
    >>> graph.degree, graph.diameter, graph.self_loops
    (4, 5, 0)
    """
    check_least(1, degree=degree)
    check_least(2, nodes=nodes)
    check_size(nodes, degree)
    every = np.arange(nodes)
    rules = [(-degree * every - shift) % nodes for shift in range(1, degree + 1)]
    return from_rules(f"Pi({degree},{nodes})", nodes, rules)


def kautz(degree: int, diameter: int) -> Digraph:
    """Return the Kautz graph of dᵏ + dᵏ⁻¹ nodes, the most known for a degree d and diameter k.

    Parameters
    ----------
    degree : int
        d, at least 1.
    diameter : int
        k, at least 1.

    Raises
    ------
    ParameterError
        A parameter that is too small, or more links than fit.

    See Also
    --------
    generalized_kautz, de_bruijn

    Examples
    --------
    >>> graph = kautz(2, 3)
    >>> graph.nodes, graph.degree, graph.diameter
    (12, 2, 3)
    """
    check_least(1, degree=degree, diameter=diameter)
    nodes = power(degree, diameter) + power(degree, diameter - 1)
    return replace(generalized_kautz(degree, nodes), name=f"Kautz({degree},{diameter})")
