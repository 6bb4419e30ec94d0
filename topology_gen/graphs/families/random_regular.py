"""Random graphs: the topologies of Jellyfish and of Xpander."""

from __future__ import annotations

import numpy as np

from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph, from_pairs
from topology_gen.graphs.families.parameters import check_least, check_size


def random_regular(nodes: int, degree: int, seed: int = 1) -> Digraph:
    """Return a connected random graph in which every node has `degree` neighbours.

    Parameters
    ----------
    nodes : int
        Number of nodes, more than the degree.
    degree : int
        The degree, at least 2; nodes × degree must be even.
    seed : int
        The random seed, at least 0. The same seed gives the same graph.

    Raises
    ------
    ParameterError
        A parameter is out of range, or nodes × degree is odd.

    See Also
    --------
    xpander

    References
    ----------
    A. Singla et al., "Jellyfish: networking data centers randomly", NSDI 2012.

    Examples
    --------
    >>> graph = random_regular(20, 3)
    >>> graph.degree, graph.links, graph.parallel_links
    (3, 60, 0)
    """

    import networkx as nx

    check_least(2, degree=degree)
    check_least(0, seed=seed)
    check_least(degree + 1, nodes=nodes)
    check_size(nodes, degree)
    if nodes * degree % 2:
        raise ParameterError(
            f"{nodes} nodes of degree {degree}: expected their product to be even", "nodes"
        )
    for attempt in range(100):
        graph = nx.random_regular_graph(degree, nodes, seed=100 * seed + attempt)
        if nx.is_connected(graph):
            break
    else:
        raise ParameterError(
            f"{nodes} nodes of degree {degree}: found no connected random graph", "nodes"
        )
    pairs = sorted((min(edge), max(edge)) for edge in graph.edges())
    return from_pairs(f"RandomRegular({nodes},{degree},seed {seed})", nodes, pairs)


def xpander(nodes: int, degree: int, seed: int = 1) -> Digraph:
    """Return a lift of K_{d+1}: d+1 pods with a random perfect matching between every two pods.

    Parameters
    ----------
    nodes : int
        Number of nodes, a multiple of degree+1. Pod k starts at node k·nodes/(degree+1).
    degree : int
        The degree d, at least 2.
    seed : int
        The random seed, at least 0. The same seed gives the same graph.

    Raises
    ------
    ParameterError
        The number of nodes is not a multiple of degree+1, or the degree is below 2.

    See Also
    --------
    random_regular

    References
    ----------
    A. Valadarsky et al., "Xpander: towards optimal-performance datacenters", CoNEXT 2016.

    Examples
    --------
    >>> graph = xpander(20, 4)
    >>> graph.degree, graph.links, graph.parallel_links
    (4, 80, 0)
    """

    import networkx as nx

    check_least(2, degree=degree)
    check_least(0, seed=seed)
    pods = degree + 1
    if nodes < pods or nodes % pods:
        raise ParameterError(
            f"{nodes} nodes of degree {degree}: expected a multiple of {pods}", "nodes"
        )
    check_size(nodes, degree)
    size = nodes // pods
    generator = np.random.default_rng(seed)
    for _ in range(100):
        pairs = [
            np.stack([a * size + np.arange(size), b * size + generator.permutation(size)], axis=1)
            for a in range(pods)
            for b in range(a + 1, pods)
        ]
        graph = from_pairs(f"Xpander({nodes},{degree},seed {seed})", nodes, np.concatenate(pairs))
        if nx.is_strongly_connected(graph.graph()):
            return graph
    raise ParameterError(f"{nodes} nodes of degree {degree}: found no connected lift", "nodes")
