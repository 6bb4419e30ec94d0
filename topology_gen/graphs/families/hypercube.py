"""Hypercube: each node is a binary number, linked to the numbers that differ in one bit."""

from __future__ import annotations

import numpy as np

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
