"""OCS-reconfig: chooses the circuits of the next period for the demand measured in the last one.

An optical circuit switch sets its links anew every `PERIOD_PS`, for which the network pauses for
`PAUSE_PS`. The greatest demand gets a link, and its remaining weight falls by the discount. This
repeats until no pair with demand has free ports. The other ports are linked evenly over the
servers, so that paths between pairs without demand stay short. If servers forward packets for
others, links are then exchanged until every server can reach every other.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4, Algorithm 5; without discount it stands
for SiP-ML (Appendix F).

Two-edge replacement: exchanges the ends of pairs of links until a digraph is connected. Two links
a→b and c→d of separate parts become a→d and c→b, which keeps the number of ports of every server.
If as many links enter every node as leave it, each link lies on a cycle, so that the exchange joins
two cycles, and two parts, into one.

Source: X. Jin et al., "Optimizing bulk transfers with software-defined optical WAN" (Owan),
SIGCOMM 2016, as TopoOpt's Algorithm 5 uses it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import ids
from topology_gen.errors import ConnectivityError, DegreeError, ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.topoopt.discount import discounted, gain

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


PERIOD_PS = 50 * 10**9
"""Time between two measurements of the demand: 50 ms."""

PAUSE_PS = 10 * 10**9
"""Time during which links change and carry nothing: 10 ms."""


def ocs_reconfig(
    transfers: ArrayLike,
    degree: int,
    *,
    discount: str = "exponential",
    forwarding: bool = True,
) -> Digraph:
    """Return the digraph of the chosen circuits, with links in the order in which they were chosen.

    When no pair with demand has free ports, the free transmitters are linked to the free receivers:
    the i-th transmitter, in the order of the servers, to the i-th receiver of the list that has the
    servers in descending order, again and again. Without any demand, this is the generalized Kautz
    digraph, whose paths are as short as those of any digraph of this degree, or one longer.

    Parameters
    ----------
    transfers : array_like, shape (n, n)
        Bytes that wait to be sent from each server (row) to each other (column); the diagonal is
        ignored.
    degree : int
        Number of ports of a server; each port is a transmitter and a receiver.
    discount : str
        One of `topology_gen.topoopt.GAINS`: "exponential" is TopoOpt's, "none" is SiP-ML's.
    forwarding : bool
        Whether servers forward packets, so that every server must be able to reach every other.

    Raises
    ------
    ParameterError
        The matrix is not square, a demand is negative or not finite, the degree is below 1, or the
        discount is unknown.

    See Also
    --------
    utility, two_edge_replacement

    Examples
    --------
    >>> demand = [[0, 9, 0], [0, 0, 2], [1, 0, 0]]
    >>> ocs_reconfig(demand, 2, forwarding=False).edges()
    [(0, 1), (0, 1), (1, 2), (1, 2), (2, 0), (2, 0)]
    """
    matrix = _checked(transfers)
    if degree < 1:
        raise ParameterError(f"degree {degree}: expected at least 1")
    nodes = len(matrix)
    gain(discount, 1)  # raises if the discount is unknown
    links: Counter[tuple[int, int]] = Counter()
    transmitters = [degree] * nodes
    receivers = [degree] * nodes
    order: list[tuple[int, int]] = []
    # The heap yields the greatest demand first; of equal ones, the pair with the lowest numbers.
    wanted = [(int(i), int(j)) for i, j in np.argwhere(matrix > 0) if i != j]
    heap = [(-float(matrix[pair]), pair) for pair in wanted]
    heapq.heapify(heap)
    while heap:
        _, pair = heapq.heappop(heap)
        if not (transmitters[pair[0]] and receivers[pair[1]]):
            continue
        order.append(pair)
        links[pair] += 1
        transmitters[pair[0]] -= 1
        receivers[pair[1]] -= 1
        weight = float(matrix[pair]) * float(gain(discount, links[pair] + 1))
        heapq.heappush(heap, (-weight, pair))
    order += _spread(transmitters, receivers)
    ends = np.array(order, dtype=np.int64).reshape(-1, 2)
    graph = Digraph(f"OCS({nodes},{degree})", nodes, ids(ends[:, 0]), ids(ends[:, 1]))
    return two_edge_replacement(graph, matrix) if forwarding else graph


def _spread(transmitters: list[int], receivers: list[int]) -> list[tuple[int, int]]:
    """Return links between the free ports; the ports that only one server has left stay free."""
    nodes = range(len(transmitters))
    sources = [node for node in nodes for _ in range(transmitters[node])]
    targets = [
        node
        for layer in range(max(receivers, default=0))
        for node in reversed(nodes)
        if receivers[node] > layer
    ]
    for index, node in enumerate(sources):
        if targets[index] != node:
            continue
        for other in (*range(index + 1, len(sources)), *range(index)):
            if node not in (sources[other], targets[other]):
                targets[index], targets[other] = targets[other], node
                break
    return [pair for pair in zip(sources, targets, strict=True) if pair[0] != pair[1]]


def utility(graph: Digraph, transfers: ArrayLike, discount: str = "exponential") -> Fraction:
    """Return Σ T(i,j)·Discount(L(i,j)) over the pairs that have links, L of them (equation 1).

    A single link counts as much as the demand of its pair.

    Examples
    --------
    >>> from topology_gen.graphs.digraph import from_edges
    >>> int(utility(from_edges([[0, 1], [0, 1], [1, 0]]), [[0, 8], [3, 0]]))
    15
    """
    matrix = _checked(transfers)
    links = Counter(graph.edges())
    parts = (Fraction(float(matrix[pair])) * discounted(discount, n) for pair, n in links.items())
    return sum(parts, Fraction(0))


def _checked(transfers: ArrayLike) -> NDArray[np.float64]:
    matrix = np.array(transfers, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"demand of shape {matrix.shape}: expected a square matrix")
    if not np.all(np.isfinite(matrix)) or np.any(matrix < 0):
        raise ParameterError("expected demands that are finite and at least 0")
    return matrix
