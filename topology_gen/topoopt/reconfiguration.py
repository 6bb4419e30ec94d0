"""OCS-reconfig: the circuits of the next period for the demand measured in the last one.

An optical circuit switch sets its links anew every `PERIOD_PS`, for which the network pauses
`PAUSE_PS`. The greatest demand gets a link, and what it still weighs falls by the discount, until
ports run out. Where servers pass on packets for others, links are exchanged until every server
reaches every other.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Appendix E.4, Algorithm 5; without discount it stands
for SiP-ML (Appendix F).
"""

from __future__ import annotations

import heapq
from collections import Counter
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topology_gen.arrays import ids
from topology_gen.errors import ParameterError
from topology_gen.graphs.digraph import Digraph
from topology_gen.topoopt.discount import discounted, gain
from topology_gen.topoopt.edge_exchange import two_edge_replacement

PERIOD_PS = 50 * 10**9
"""Between two measurements of the demand: 50 ms."""

PAUSE_PS = 10 * 10**9
"""Time in which links change and carry nothing: 10 ms."""


def ocs_reconfig(
    transfers: ArrayLike,
    degree: int,
    *,
    discount: str = "exponential",
    forwarding: bool = True,
) -> Digraph:
    """Return the directed links, in the order in which demand got them.

    Links go on to pairs without demand, in the order of their numbers, until no server with a free
    port to send from is left beside another with one to receive at.

    Parameters
    ----------
    transfers : array_like, shape (n, n)
        Bytes from row to column that are waiting to be sent; the diagonal is not looked at.
    degree : int
        Ports of a server, each a transmitter and a receiver.
    discount : str
        One of `topology_gen.topoopt.GAINS`: "exponential" is TopoOpt's, "none" is SiP-ML's.
    forwarding : bool
        Servers pass packets on, so that every server must reach every other.

    Raises
    ------
    ParameterError
        A matrix that is not square, demand that is negative or not finite, a degree below 1, or no
        such discount.

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
    gain(discount, 1)  # refuses an unknown one
    links: Counter[tuple[int, int]] = Counter()
    transmitters = [degree] * nodes
    receivers = [degree] * nodes
    order: list[tuple[int, int]] = []
    # The greatest first; of equal ones, the first by number.
    heap = [
        (-float(matrix[pair]), pair)
        for pair in ((i, j) for i in range(nodes) for j in range(nodes) if i != j)
    ]
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
    ends = np.array(order, dtype=np.int64).reshape(-1, 2)
    graph = Digraph(f"OCS({nodes},{degree})", nodes, ids(ends[:, 0]), ids(ends[:, 1]))
    return two_edge_replacement(graph, matrix) if forwarding else graph


def utility(graph: Digraph, transfers: ArrayLike, discount: str = "exponential") -> Fraction:
    """Return Σ T(i,j)·Discount(L(i,j)) over the pairs with links, L of them (equation 1).

    In units where a single link is worth the pair's demand.

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
        raise ParameterError("demand that is negative or not finite: expected numbers from 0")
    return matrix
