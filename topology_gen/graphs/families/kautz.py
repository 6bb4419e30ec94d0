"""De Bruijn and Kautz digraphs: the least diameter at a degree, up to a small factor."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

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


def generalized_kautz(degree: int, nodes: int) -> Digraph:
    """Return the generalized Kautz graph Π(d,m): links from x to (-d·x - a) mod m for a = 1 … d.

    It has self-loops unless d+1 divides m, and parallel links if m < d.

    Parameters
    ----------
    degree : int
        The degree d, at least 1.
    nodes : int
        Number m of nodes, at least 2.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    kautz : the same graph for m = dᵏ + dᵏ⁻¹

    References
    ----------
    M. Imase, M. Itoh, "A design for directed graphs with minimum diameter", IEEE Transactions on
    Computers 32 (1983).

    Examples
    --------
    >>> graph = generalized_kautz(4, 1000)
    >>> graph.degree, graph.diameter, graph.self_loops
    (4, 5, 0)
    """
    check_least(1, degree=degree)
    check_least(2, nodes=nodes)
    check_size(nodes, degree)
    every = np.arange(nodes)
    rules = [(-degree * every - shift) % nodes for shift in range(1, degree + 1)]
    graph = from_rules(f"Pi({degree},{nodes})", nodes, rules)
    return replace(graph, symmetry=_turns(degree, nodes))


def _turns(degree: int, nodes: int) -> Symmetry:
    """Return the symmetries that add to every node a multiple of m/gcd(d+1,m), and x → -1-x.

    The latter is left out if one of the symmetries would fix a node.
    """
    step = nodes // gcd(degree + 1, nodes)
    node = np.arange(nodes) % step
    link = (np.arange(1, degree + 1)[:, None] * step + node).ravel()
    if nodes % 2 == 0 and step % 2 == 0:
        # x → -1-x maps the link with shift a to the one with shift d+1-a.
        other = (np.arange(degree, 0, -1)[:, None] * step + step - 1 - node).ravel()
        node, link = np.minimum(node, step - 1 - node), np.minimum(link, other)
    return Symmetry(*(ids(np.unique(each, return_inverse=True)[1]) for each in (node, link)))


def kautz(degree: int, diameter: int) -> Digraph:
    """Return the Kautz graph of dᵏ + dᵏ⁻¹ nodes, the most known for degree d and diameter k.

    Parameters
    ----------
    degree : int
        The degree d, at least 1.
    diameter : int
        The diameter k, at least 1.

    Raises
    ------
    ParameterError
        A parameter is too small, or there are too many links.

    See Also
    --------
    generalized_kautz, de_bruijn

    Examples
    --------
    >>> graph = kautz(2, 3)
    >>> graph.nodes, graph.degree, graph.diameter
    (12, 2, 3)
    """
    check_least(1, degree=degree, diameter=diameter)
    nodes = power(degree, diameter) + power(degree, diameter - 1)
    return replace(generalized_kautz(degree, nodes), name=f"Kautz({degree},{diameter})")
