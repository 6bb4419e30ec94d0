"""Kautz graphs, and their generalization to any number of nodes: directed, of low diameter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


def generalized_kautz(degree: int, nodes: int) -> Digraph:
    """Return the generalized Kautz graph Π(d,m): links from x to (-d·x - a) mod m for a = 1 … d.

    It has self-loops unless d+1 divides m, and parallel links if m < d.

    Parameters
    ----------
    degree : int
        The degree d, at least 1.
    nodes : int
        Number m of nodes, at least 2.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    kautz : the same graph for m = dᵏ + dᵏ⁻¹

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
    """Return the Kautz graph of dᵏ + dᵏ⁻¹ nodes, the most known for degree d and diameter k.

    Parameters
    ----------
    degree : int
        The degree d, at least 1.
    diameter : int
        The diameter k, at least 1.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

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
