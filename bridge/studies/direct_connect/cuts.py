"""A bound of the all-to-all throughput by cuts, for digraphs with few links across."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from topology_gen.graphs.digraph import Digraph


def cut_bound(graph: Digraph) -> Fraction:
    """Return an all-to-all throughput that no flow exceeds, by cuts around consecutive nodes.

    The c links that leave k of the N nodes carry k·(N-k) flows, so f is at most c / (k·(N-k)). The
    result is the least of these bounds over all sets of consecutive nodes. In the trees of
    `topology_gen.graphs.double_binary_tree`, the nodes below a node are consecutive.

    Parameters
    ----------
    graph : Digraph
        A digraph of at least 2 nodes, whose links have a capacity of 1.

    See Also
    --------
    topology_gen.schedules.all_to_all.distance_bound

    Examples
    --------
    >>> from topology_gen.graphs import double_binary_tree
    >>> str(cut_bound(double_binary_tree(1024)))
    '1/65536'
    """
    nodes = graph.nodes
    # before[i, j]: the links from a node below i to one below j.
    before = np.zeros((nodes + 1, nodes + 1), np.int64)
    np.add.at(before, (graph.source + 1, graph.target + 1), 1)
    before = before.cumsum(0).cumsum(1)
    starting, inside = before[:, nodes], before.diagonal()
    bounds = []
    for size in range(1, nodes):
        within = inside[size:] + inside[:-size] - before.diagonal(size) - before.diagonal(-size)
        leaving = starting[size:] - starting[:-size] - within
        bounds.append(Fraction(int(leaving.min()), size * (nodes - size)))
    return min(bounds)
