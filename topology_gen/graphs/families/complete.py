"""Complete graph: two opposite links between every two nodes."""

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
