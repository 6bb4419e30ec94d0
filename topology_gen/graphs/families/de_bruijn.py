"""De Bruijn graph: words of some letters, linked to those that go on with one letter more."""

from __future__ import annotations

import numpy as np

from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.families.parameters import check_least, check_size, power


def de_bruijn(degree: int, diameter: int) -> Digraph:
    """Return the de Bruijn graph: links from x to d·x + a mod dᵏ for a = 0 … d-1.

    The d words of one letter have self-loops.

    Parameters
    ----------
    degree : int
        d, at least 2.
    diameter : int
        k, at least 1; there are dᵏ nodes.

    Raises
    ------
    ParameterError
        A parameter that is too small, or more links than fit.

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
    return from_rules(f"DBJ({degree},{diameter})", nodes, rules)


def modified_de_bruijn(degree: int, diameter: int) -> Digraph:
    """Return the de Bruijn graph whose self-loops are links round their nodes instead.

    The self-loop of aa…a leads to bb…b, b being the next letter after a, or the first. No link is
    wasted, so that T_B is less, and the diameter is the same. The published graphs of this name
    are known by a picture only, and may be other ones.

    Parameters
    ----------
    degree : int
        d, at least 2.
    diameter : int
        k, at least 2; there are dᵏ nodes.

    Raises
    ------
    ParameterError
        A parameter that is too small, or more links than fit.

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
    return Digraph(f"DBJMod({degree},{diameter})", graph.nodes, graph.source, target)
