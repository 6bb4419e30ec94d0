"""Complete bipartite graph: two halves, with links between all nodes of different halves."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


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
