"""Orders of ranks in which a ring of them follows the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from topology_gen import Network

Costs = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_GAIN = 1e-9
"""Part of a ring's cost that a change must gain, so that rounding is none."""


def along_network(network: Network, ranks: Sequence[int]) -> tuple[int, ...]:
    """Return ranks in an order in which a ring of them costs little; the first one stays first.

    Each rank is followed by the nearest one that is left (nearest neighbour), and then parts of the
    ring are reversed as long as that makes it shorter (2-opt; Croes, Operations Research 6, 1958).
    Where distances are those of a tree of switches, the first step finds the shortest ring: it
    leaves no server, leaf or pod before it has all of its ranks.

    Parameters
    ----------
    network : Network
        The network that joins them.
    ranks : sequence of int
        Different ranks.

    Returns
    -------
    tuple of int
        The same ranks.
    """
    if len(ranks) < 4:  # there is only one ring
        return tuple(ranks)
    costs = distances(network, ranks)
    return tuple(ranks[place] for place in _shortened(_nearest(costs), costs).tolist())


def distances(network: Network, ranks: Sequence[int]) -> Costs:
    """Return how far ranks are from each other, both ways together.

    Parameters
    ----------
    network : Network
        The network that joins them.
    ranks : sequence of int
        Different ranks.

    Returns
    -------
    float64 array, shape (ranks, ranks)
        The time that the links of the quickest path take for a bit, one after another, in seconds.
        Infinite if there is no path.
    """
    from scipy.sparse.csgraph import dijkstra  # imported here, as few scenarios need it

    wanted = np.asarray(ranks, np.int64)
    one_way: Costs = dijkstra(
        _links(network, wanted), indices=network.nodes + np.arange(wanted.size)
    )
    one_way = one_way[:, wanted]
    np.fill_diagonal(one_way, 0)
    both: Costs = one_way + one_way.T
    return both


def _links(network: Network, ranks: Ints) -> Any:
    """Return the time of each link for a bit, as a sparse matrix.

    Behind the nodes, each of the ranks stands once more with the links that leave it. So no path
    leads through a rank if ranks do not forward.
    """
    from scipy.sparse import coo_array

    source, target = network.source.astype(np.int64), network.target.astype(np.int64)
    cost = 1 / network.rate_bps.astype(np.float64)
    copies = np.full(network.nodes, -1)
    copies[ranks] = network.nodes + np.arange(ranks.size)
    first = copies[source] >= 0
    kept = np.full(source.size, network.ranks_forward) | (source >= network.ranks)
    size = network.nodes + ranks.size
    rows = np.concatenate((source[kept], copies[source[first]]))
    columns = np.concatenate((target[kept], target[first]))
    costs = np.concatenate((cost[kept], cost[first]))
    order = np.lexsort((costs, columns, rows))  # of links side by side, the fastest one
    rows, columns, costs = rows[order], columns[order], costs[order]
    fastest = np.append(True, (np.diff(rows) != 0) | (np.diff(columns) != 0))
    return coo_array(
        (costs[fastest], (rows[fastest], columns[fastest])), shape=(size, size)
    ).tocsr()


def _nearest(costs: Costs) -> Ints:
    """Return a ring in which each place is followed by the nearest one that is left."""
    ring, left = [0], np.ones(len(costs), bool)
    for _ in range(len(costs) - 1):
        left[ring[-1]] = False
        places = np.flatnonzero(left)
        ring.append(int(places[np.argmin(costs[ring[-1], places])]))
    return np.array(ring)


def _shortened(ring: Ints, costs: Costs) -> Ints:
    """Return a ring of which no part that is turned round makes it shorter; place 0 stays first."""
    least = _GAIN * float(costs[ring, np.roll(ring, -1)].sum())
    found = not np.isfinite(least)
    while not found:
        found = True
        for place in range(ring.size - 2):
            one, two = ring[place], ring[place + 1]
            ends, behind = ring[place + 2 :], np.append(ring[place + 3 :], ring[0])
            gain = costs[one, two] + costs[ends, behind] - costs[one, ends] - costs[two, behind]
            best = int(np.argmax(gain))
            if gain[best] > least:
                ring[place + 1 : place + 3 + best] = ring[place + 1 : place + 3 + best][::-1]
                found = False
    return ring
