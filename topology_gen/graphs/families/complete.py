"""Complete graphs, and complete bipartite graphs."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


def complete(nodes: int) -> Digraph:
    """Return the complete graph K_n: every node is linked to every other.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2. The degree is n-1.

    Raises
    ------
    ParameterError
        There are fewer than 2 nodes, or too many links.

    Examples
    --------
    >>> graph = complete(5)
    >>> graph.degree, graph.diameter
    (4, 1)
    """
    check_least(2, nodes=nodes)
    check_size(nodes, nodes - 1)
    every = np.arange(nodes)
    rules = [(every + offset) % nodes for offset in range(1, nodes)]
    return from_rules(f"K_{nodes}", nodes, rules, vertex_transitive=True)


def complete_bipartite(degree: int) -> Digraph:
    """Return the complete bipartite graph K_{d,d} of the nodes 0 … d-1 and d … 2d-1.

    Parameters
    ----------
    degree : int
        The degree d, at least 1. There are 2d nodes.

    Raises
    ------
    ParameterError
        The degree is below 1, or there are too many links.

    Examples
    --------
    >>> graph = complete_bipartite(4)
    >>> graph.nodes, graph.degree, graph.diameter
    (8, 4, 2)
    """
    check_least(1, degree=degree)
    check_size(2 * degree, degree)
    half = np.arange(degree)
    rules = [
        np.concatenate([degree + (half + shift) % degree, (half - shift) % degree])
        for shift in range(degree)
    ]
    return from_rules(f"K_{{{degree},{degree}}}", 2 * degree, rules, True, grid=(2, degree))
