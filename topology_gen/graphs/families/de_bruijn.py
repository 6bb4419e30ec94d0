"""De Bruijn graph: each node is a word, linked to the words that append one letter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from topology_gen.arrays import ids
from topology_gen.graphs.digraph import Digraph, Symmetry, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


def de_bruijn(degree: int, diameter: int) -> Digraph:
    """Return the de Bruijn graph: links from x to d·x + a mod dᵏ for a = 0 … d-1.

    The d nodes whose letters are all equal have self-loops.

    Parameters
    ----------
    degree : int
        The degree d, at least 2.
    diameter : int
        The diameter k, at least 1. There are dᵏ nodes.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    kautz, modified_de_bruijn

    Examples
    --------
    >>> graph = de_bruijn(2, 3)
    >>> graph.nodes, graph.degree, graph.diameter, graph.self_loops
    (8, 2, 3, 2)
    """
    check_least(2, degree=degree)
    check_least(1, diameter=diameter)
    nodes = power(degree, diameter)
    check_size(nodes, degree)
    every = np.arange(nodes)
    rules = [(degree * every + letter) % nodes for letter in range(degree)]
    graph = from_rules(f"DBJ({degree},{diameter})", nodes, rules)
    return replace(graph, symmetry=_letter_shifts(degree, diameter))


def modified_de_bruijn(degree: int, diameter: int) -> Digraph:
    """Return the de Bruijn graph with its self-loops replaced by links between their nodes.

    The self-loop of aa…a becomes a link to bb…b, where b is the letter after a, or the first
    letter. No link is wasted, so T_B is lower; the diameter stays the same. The published graphs of
    this name are known only from a picture and may differ.

    Parameters
    ----------
    degree : int
        The degree d, at least 2.
    diameter : int
        The diameter k, at least 2. There are dᵏ nodes.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    de_bruijn

    Examples
    --------
    >>> graph = modified_de_bruijn(2, 3)
    >>> graph.nodes, graph.degree, graph.diameter, graph.self_loops
    (8, 2, 3, 0)
    """
    check_least(2, diameter=diameter)
    graph = de_bruijn(degree, diameter)
    target = graph.target.copy()
    loops = np.flatnonzero(graph.source == graph.target)
    target[loops] = graph.target[np.roll(loops, -1)]
    return replace(graph, name=f"DBJMod({degree},{diameter})", target=target)


def _letter_shifts(degree: int, diameter: int) -> Symmetry:
    """Return the symmetries that replace every letter by one that is a fixed number ahead.

    Equivalent words have the same differences to their first letter, which is the first digit.
    """
    places = degree ** np.arange(diameter)[::-1]
    letters = np.arange(degree**diameter)[:, None] // places % degree
    node_class = (letters - letters[:, :1]) % degree @ places
    appended = (np.arange(degree)[:, None] - letters[:, 0]) % degree
    return Symmetry(ids(node_class), ids((node_class * degree + appended).ravel()))
