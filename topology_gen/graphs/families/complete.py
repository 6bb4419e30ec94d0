"""Complete graphs, complete bipartite graphs, and Hamming graphs: products of complete graphs."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


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


def hamming(dimensions: int, letters: int) -> Digraph:
    """Return the Hamming graph H(k,q), the k-th Cartesian power of a complete graph.

    Parameters
    ----------
    dimensions : int
        The length k of the words, at least 1, which is also the diameter.
    letters : int
        Number q of letters, at least 2. The degree is k·(q-1).

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    hypercube : H(k,2)

    Examples
    --------
    >>> graph = hamming(2, 3)
    >>> graph.nodes, graph.degree, graph.diameter
    (9, 4, 2)
    """
    check_least(1, dimensions=dimensions)
    check_least(2, letters=letters)
    nodes = power(letters, dimensions)
    check_size(nodes, dimensions * (letters - 1))
    every = np.arange(nodes)
    rules = []
    for place in range(dimensions):
        unit = letters ** (dimensions - 1 - place)
        letter = every // unit % letters
        for shift in range(1, letters):
            rules.append(every + ((letter + shift) % letters - letter) * unit)
    name = f"H({dimensions},{letters})"
    return from_rules(name, nodes, rules, True, grid=(letters,) * dimensions)
