"""Complete graph: a link between every two nodes, each way."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


def complete(nodes: int) -> Digraph:
    """Return K_n.

    Parameters
    ----------
    nodes : int
        At least 2; the degree is one less.

    Raises
    ------
    ParameterError
        Fewer than 2 nodes, or more links than fit.

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
