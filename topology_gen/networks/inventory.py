"""What a network is built of: switches by tier, cables, bisection bandwidth and diameter.

All of it is about the network between servers (`topology_gen.networks.parts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from topology_gen.networks.network import Network
from topology_gen.networks.parts import ends_of_servers, links_outside

_RANDOM_HALVES = 8
_ANGLES = 6
_MOST_NODES = 1024  # whose Fiedler vector is computed
_MOST_STEPS = 2**28  # of the search for the diameter, from one distance to the next
_MOST_UNITS = 2**30  # scipy's flows have 32 bits

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]


class Tier(NamedTuple):
    """Switches that are equally far from the ranks."""

    switches: Counts
    """Their nodes."""
    ports: int
    """Ends of links at them."""
    down_bps: int
    """Rate of their links to lower tiers and ranks, summed."""
    up_bps: int
    """Rate of their links to higher tiers, summed; 0 at the top."""

    @property
    def oversubscription(self) -> float | None:
        """The rate down over the rate up; None at the top."""
        return self.down_bps / self.up_bps if self.up_bps else None


class Cables(NamedTuple):
    """Cables between servers and switches; both directions of a link are one cable."""

    ends: Counts
    """The two nodes of each; shape (cables, 2)."""
    rate_bps: NDArray[np.uint64]


def cables(network: Network) -> Cables:
    """Return the cables of a network."""
    links = links_outside(network)
    ends = np.stack([network.source[links], network.target[links]], axis=1).astype(np.int64)
    backwards = ends[:, 0] > ends[:, 1]
    rate = network.rate_bps[links]
    kinds, kind = np.unique(
        np.column_stack([np.sort(ends, axis=1), rate.astype(np.int64)]), axis=0, return_inverse=True
    )
    there = np.bincount(kind.ravel()[~backwards], minlength=len(kinds))
    back = np.bincount(kind.ravel()[backwards], minlength=len(kinds))
    rows = np.repeat(kinds, np.maximum(there, back), axis=0)
    return Cables(rows[:, :2], rows[:, 2].astype(np.uint64))


def tiers(network: Network) -> list[Tier]:
    """Return the switches between servers by their distance from the servers, nearest first."""
    links = links_outside(network)
    source, target = network.source[links], network.target[links]
    far = network.nodes
    level = np.where(ends_of_servers(network), 0, far)
    for distance in range(1, far):
        reached = target[level[source] == distance - 1]
        reached = reached[level[reached] == far]
        if not reached.size:
            break
        level[reached] = distance
    rate = network.rate_bps[links].astype(np.float64)
    found = []
    for distance in range(1, int(level[level < far].max()) + 1):
        leaves = level[source] == distance
        down = leaves & (level[target] < distance)
        up = leaves & (level[target] > distance) & (level[target] < far)
        found.append(
            Tier(
                np.flatnonzero(level == distance),
                int(np.count_nonzero(leaves)),
                int(rate[down].sum()),
                int(rate[up].sum()),
            )
        )
    return found


def bisection_bps(network: Network) -> int:
    """Return the bandwidth from one half of the servers to the other.

    It is the largest flow between the halves, for the worst of some ways to halve: in the order of
    the ranks, at random, and for small networks by Fiedler vectors. The exact minimum over all
    halves is NP-hard; it is at most this.

    Returns
    -------
    int
        In bit/s, in one direction.
    """
    servers = _servers(network)
    count = int(servers.max()) + 1
    if count < 2:
        return 0
    links = links_outside(network)
    return min(
        flow
        for order in _orders(network, links, servers, count)
        for flow in _flows(network, links, np.isin(servers, order[: count // 2]))
    )


def _servers(network: Network) -> Counts:
    """Return the server of each rank: ranks that scale-up links join are in one."""
    scale_up = np.array([name == "scale_up" for name in network.dimensions])[network.dimension]
    if np.all(scale_up):
        return np.arange(network.ranks)
    ends = network.source[scale_up], network.target[scale_up]
    joined = sparse.coo_matrix((np.ones(len(ends[0])), ends), (network.nodes, network.nodes))
    label = csgraph.connected_components(joined, directed=False)[1][: network.ranks]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _orders(network: Network, links: Counts, servers: Counts, count: int) -> Iterator[Counts]:
    """Yield orders of the servers that links join, whose first halves are tried."""
    yield np.arange(count)
    random = np.random.default_rng(1)
    for _ in range(_RANDOM_HALVES):
        yield random.permutation(count)
    if not 4 <= network.nodes <= _MOST_NODES:
        return
    ends = network.source[links], network.target[links]
    weight = network.rate_bps[links] / network.rate_bps[links].max()
    joined = sparse.coo_matrix((weight, ends), (network.nodes,) * 2).toarray()
    # A server is one node of a cut: what joins its ranks is as strong as all its links.
    first = np.unique(servers, return_index=True)[1][servers]
    joined[np.arange(network.ranks), first] += weight.sum()
    joined += joined.T
    vectors = np.linalg.eigh(np.diag(joined.sum(axis=0)) - joined)[1]
    places = [np.bincount(servers, vectors[: network.ranks, which], count) for which in (1, 2)]
    # In symmetric networks several vectors are as good, and one alone has ties.
    for angle in np.pi * (np.arange(_ANGLES) + 0.3) / _ANGLES:
        mixed = np.cos(angle) * places[0] + np.sin(angle) * places[1]
        yield np.argsort(mixed, kind="stable")


def _flows(network: Network, links: Counts, is_first: Flags) -> Iterator[int]:
    """Yield the largest flow over some links from some ranks to the others, and back.

    Each half is one node: ranks of a half reach each other without limit.
    """
    node = np.arange(network.nodes) + 2
    node[: network.ranks] = np.where(is_first, 0, 1)
    ends = node[network.source[links]], node[network.target[links]]
    rate = network.rate_bps[links].astype(np.int64)
    total = float(rate.sum(dtype=np.float64))
    unit = max(int(np.gcd.reduce(rate)), int(total // _MOST_UNITS) + 1)
    size = network.nodes + 2
    capacity = sparse.csr_array((rate // unit, ends), (size, size)).astype(np.int32)
    for source, target in ((0, 1), (1, 0)):
        yield int(csgraph.maximum_flow(capacity, source, target).flow_value) * unit


def diameter(network: Network) -> tuple[int, bool]:
    """Return the most links of a shortest path between two ranks, and whether it is exact.

    In a large network, the paths of some ranks are measured.
    """
    ranks = network.ranks
    count = max(1, min(ranks, _MOST_STEPS // max(network.nodes, network.links)))
    sources = np.unique(np.linspace(0, ranks - 1, count).astype(np.int64))
    ends = network.target, network.source
    ones = np.ones(network.links, np.float32)
    step = sparse.csr_array((ones, ends), (network.nodes, network.nodes))
    reached = np.zeros((network.nodes, sources.size), bool)
    reached[sources, np.arange(sources.size)] = True
    frontier = reached.copy()
    hops = 0
    while not reached[:ranks].all():
        frontier = (step @ frontier.astype(np.float32) > 0) & ~reached
        if not frontier.any():
            break
        reached |= frontier
        hops += 1
        if not network.ranks_forward:
            frontier[:ranks] = False
    return hops, count == ranks
