"""Hypercube: a node a binary number, linked to those that differ in one bit."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_size, exact_log


def hypercube(nodes: int) -> Digraph:
    """Return the hypercube of `nodes` nodes.

    Parameters
    ----------
    nodes : int
        A power of two, at least 2; its exponent is degree and diameter.

    Raises
    ------
    ParameterError
        Not a power of two, or more links than fit.

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
    return from_rules(f"Hypercube(2^{dimensions})", nodes, rules, vertex_transitive=True)
