"""Rings: every node is linked to the next, or to both neighbours."""

from __future__ import annotations

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size


def ring(nodes: int, degree: int = 2) -> Digraph:
    """Return the bidirectional ring BiRing(d,n): d/2 parallel links to each neighbour.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2. With 2 nodes, both neighbours are the same node.
    degree : int
        The degree d, an even number of at least 2.

    Raises
    ------
    ParameterError
        There are fewer than 2 nodes, or the degree is odd.

    See Also
    --------
    unidirectional_ring, shifted_ring

    Examples
    --------
    >>> graph = ring(8)
    >>> graph.links, graph.diameter, graph.bidirectional
    (16, 4, True)
    """
    check_least(2, nodes=nodes, degree=degree)
    if degree % 2:
        raise ParameterError(
            f"degree {degree} of a bidirectional ring: expected an even number", "degree"
        )
    check_size(nodes, degree)
    every = np.arange(nodes)
    rules = [(every + 1) % nodes, (every - 1) % nodes] * (degree // 2)
    return from_rules(f"BiRing({degree},{nodes})", nodes, rules, vertex_transitive=True)


def unidirectional_ring(nodes: int, degree: int = 1) -> Digraph:
    """Return the unidirectional ring UniRing(d,n): d parallel links to the next node.

    Parameters
    ----------
    nodes : int
        Number n of nodes, at least 2.
    degree : int
        The degree d, at least 1.

    Raises
    ------
    ParameterError
        A parameter is too small.

    See Also
    --------
    ring

    Examples
    --------
    >>> graph = unidirectional_ring(8)
    >>> graph.links, graph.diameter, graph.bidirectional
    (8, 7, False)
    """
    check_least(2, nodes=nodes)
    check_least(1, degree=degree)
    check_size(nodes, degree)
    rules = [(np.arange(nodes) + 1) % nodes] * degree
    return from_rules(f"UniRing({degree},{nodes})", nodes, rules, vertex_transitive=True)
