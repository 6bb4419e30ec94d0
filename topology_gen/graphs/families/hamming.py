"""Hamming graph: each node is a word, linked to the words that differ in one letter."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


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
