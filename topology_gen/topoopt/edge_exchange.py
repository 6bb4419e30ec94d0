"""Two-edge replacement: exchanges the ends of pairs of links until a digraph is connected.

Two links a→b and c→d of separate parts become a→d and c→b, which keeps the number of ports of every
server. If as many links enter every node as leave it, each link lies on a cycle, so that the
exchange joins two cycles, and two parts, into one.

Source: X. Jin et al., "Optimizing bulk transfers with software-defined optical WAN" (Owan),
SIGCOMM 2016, as TopoOpt's Algorithm 5 uses it.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import ids
from topology_gen.errors import ConnectivityError, DegreeError
from topology_gen.graphs.digraph import Digraph

Link = tuple[int, int]


def two_edge_replacement(graph: Digraph, transfers: NDArray[np.float64]) -> Digraph:
    """Return a strongly connected digraph, made by exchanging the links with the least demand.

    One link of each part is exchanged. A greedy choice of links can leave a node without links;
    such a node is inserted into the link with the least demand.

    Parameters
    ----------
    graph : Digraph
        A digraph in which as many links leave every node as enter it. Link ids stay the same.
    transfers : array, shape (n, n)
        Bytes from each node (row) to each other (column); parallel links share them.

    Raises
    ------
    DegreeError
        The numbers of links that leave and enter a node differ.
    ConnectivityError
        There are at least two nodes and no links.

    Examples
    --------
    >>> from topology_gen.graphs.digraph import from_edges
    >>> apart = from_edges([[0, 1], [1, 0], [2, 3], [3, 2]])
    >>> two_edge_replacement(apart, np.zeros((4, 4))).edges()
    [(0, 3), (1, 0), (2, 1), (3, 2)]
    """

    import networkx as nx

    leaving = np.bincount(graph.source, minlength=graph.nodes)
    entering = np.bincount(graph.target, minlength=graph.nodes)
    if not np.array_equal(leaving, entering):
        node = int(np.argmax(leaving != entering))
        raise DegreeError(
            f"{leaving[node]} links leave node {node} and {entering[node]} enter it: expected "
            "equal numbers"
        )
    links = graph.edges()
    if not links and graph.nodes > 1:
        raise ConnectivityError(f"no links between {graph.nodes} nodes: expected links to exchange")
    parallel = Counter(links)

    def demand(index: int) -> tuple[float, Link]:
        link = links[index]
        return float(transfers[link]) / max(parallel[link], 1), link

    for node in np.flatnonzero(leaving == 0).tolist() if graph.nodes > 1 else ():
        source, target = links[index := min(range(len(links)), key=demand)]
        links[index] = (source, node)
        links.append((node, target))
    simple: nx.DiGraph[int] = nx.DiGraph(links)
    simple.add_nodes_from(range(graph.nodes))
    parts = sorted(nx.strongly_connected_components(simple), key=min)
    part_of = {node: part for part, members in enumerate(parts) for node in members}
    cheapest: dict[int, int] = {}  # for each part, the link with the least demand
    for index in sorted(range(len(links)), key=demand):
        cheapest.setdefault(part_of[links[index][0]], index)
    for part in range(1, len(parts)):
        # After an exchange, the first part's link belongs to the joined part and can be used again.
        first, second = cheapest[0], cheapest[part]
        (a, b), (c, d) = links[first], links[second]
        links[first], links[second] = (a, d), (c, b)
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    return Digraph(graph.name, graph.nodes, ids(ends[:, 0]), ids(ends[:, 1]))
