"""The traffic of a job: its transfers as a matrix, and the loads of the links that carry them.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Figures 1, 8, 9 and 13 to 15 and section 5.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.graphs.totient_perms import ring
from topology_gen.networks.network import Network
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.topology import TopoOptTopology

Bytes = NDArray[np.float64]


def all_reduce_matrix(
    nodes: int, orders: Sequence[Sequence[int]], total_bytes: float, duplex: bool = False
) -> Bytes:
    """Return the traffic of an all-reduce that is split evenly over some rings.

    Each link of a ring carries 2(k-1)/k of the ring's part of the vector.

    Parameters
    ----------
    nodes : int
        Number of rows and of columns.
    orders : sequence of sequences of int
        The servers in the order of each ring; the same servers in all rings.
    total_bytes : float
        Size of the vector.
    duplex : bool
        Whether every ring carries half its part in each direction.

    Returns
    -------
    array, shape (nodes, nodes)
        Bytes from each server (row) to each other (column).

    Raises
    ------
    ParameterError
        There are no rings.

    Examples
    --------
    >>> all_reduce_matrix(3, [[0, 1, 2]], 300).tolist()
    [[0.0, 400.0, 0.0], [0.0, 0.0, 400.0], [400.0, 0.0, 0.0]]
    """
    if not orders:
        raise ParameterError("no rings: expected at least one")
    result = np.zeros((nodes, nodes))
    size = len(orders[0])
    part = 2 * (size - 1) / size * total_bytes / len(orders)
    for order in orders if size > 1 else ():
        servers = np.array(order)
        after = np.roll(servers, -1)
        result[servers, after] += part / 2 if duplex else part
        if duplex:
            result[after, servers] += part / 2
    return result


def traffic_matrix(demand: Demand, topology: TopoOptTopology | None = None) -> Bytes:
    """Return the bytes of all transfers of a job, from each server (row) to each other (column).

    An all-reduce uses the rings of its group in the topology. Without a topology, or if the group
    has no rings, it uses one directed ring of stride 1.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> traffic_matrix(data_parallel(4, 100))[3].tolist()
    [150.0, 0.0, 0.0, 0.0]
    """
    result = demand.mp.copy()
    for index, group in enumerate(demand.groups):
        orders = [] if topology is None else topology.orders(index)
        duplex = topology is not None and topology.duplex and bool(orders)
        orders = orders or [ring(group.members, 1)]
        result += all_reduce_matrix(demand.nodes, orders, group.bytes, duplex)
    return result


class Load(NamedTuple):
    """The load of a network.

    `links` are the links that leave a rank, and `link_bytes` is the load of each. `hops` and
    `pair_bytes` are the path length and the bytes of each pair that sends. In a network with
    switches, the length of a path counts only links that leave a rank.
    """

    links: Numbers
    link_bytes: Bytes
    hops: Bytes
    pair_bytes: Bytes

    @property
    def bandwidth_tax(self) -> float:
        """Bytes that ranks send, including what they forward, over the bytes of the job; 1 if 0."""
        own = float(self.pair_bytes.sum())
        return float(self.link_bytes.sum()) / own if own else 1.0


def load(network: Network, matrix: Bytes, routes: int = 1) -> Load:
    """Return the load that a traffic matrix puts on the links of a network.

    Parameters
    ----------
    network : Network
        The network, which determines the paths.
    matrix : array, shape (ranks, ranks)
        Bytes from each rank (row) to each other (column).
    routes : int
        Number of paths over which the bytes of each pair are split evenly.

    Raises
    ------
    ParameterError
        The matrix has another size, or `routes` is below 1.

    Examples
    --------
    >>> from topology_gen import direct_connect
    >>> from topology_gen.graphs import unidirectional_ring
    >>> network = direct_connect(unidirectional_ring(3), 10**9, 0)
    >>> load(network, np.array([[0, 0, 8.0], [0, 0, 0], [0, 0, 0]])).bandwidth_tax
    2.0
    """
    if matrix.shape != (network.ranks, network.ranks) or routes < 1:
        raise ParameterError(
            f"traffic of shape {matrix.shape} over {routes} routes: expected {network.ranks} rows "
            "and columns, and at least 1 route"
        )
    matrix = matrix * ~np.eye(network.ranks, dtype=bool)
    source, target = np.nonzero(matrix)
    share = matrix[source, target] / routes
    link_bytes = np.zeros(network.links)
    hops = np.zeros(source.size)
    from_rank = network.source < network.ranks
    for route in range(routes):
        paths = network.paths(source, target, route)
        begin = paths.begin.astype(np.int64)
        lengths = begin[1:] - begin[:-1]
        weights = np.repeat(share, lengths)
        link_bytes += np.bincount(paths.links, weights, minlength=network.links)
        pair = np.repeat(np.arange(source.size), lengths)
        hops += np.bincount(pair, from_rank[paths.links], minlength=source.size) / routes
    links = np.flatnonzero(from_rank)
    return Load(links, link_bytes[links], hops, share * routes)


def job_load(
    network: Network, demand: Demand, topology: TopoOptTopology | None = None, routes: int = 1
) -> Load:
    """Return the load that a job's transfers put on a network.

    Parameters
    ----------
    network : Network
        A network with a rank for each server.
    demand : Demand
        The transfers of the job.
    topology : TopoOptTopology, optional
        The topology whose rings the all-reduces use; see `traffic_matrix`. Rings of the same stride
        are parallel links and share the bytes.
    routes : int
        Number of paths over which the bytes of each model-parallel pair are split evenly.

    Raises
    ------
    ParameterError
        The network has another size, or `routes` is below 1.
    """
    rings = replace(demand, mp=np.zeros_like(demand.mp))
    parallel = 1
    if topology is not None:
        links = topology.graph.source.astype(np.int64) * demand.nodes + topology.graph.target
        parallel = lcm(*np.unique(np.unique(links, return_counts=True)[1]).tolist())
    parts = [load(network, traffic_matrix(rings, topology), parallel)]
    parts.append(load(network, demand.mp, routes))
    return Load(
        parts[0].links,
        parts[0].link_bytes + parts[1].link_bytes,
        np.concatenate([part.hops for part in parts]),
        np.concatenate([part.pair_bytes for part in parts]),
    )


def path_lengths(network: Network) -> Bytes:
    """Return the number of hops of the first path of every ordered pair of ranks; see `Load`.

    Examples
    --------
    >>> from topology_gen import direct_connect
    >>> from topology_gen.graphs import ring
    >>> path_lengths(direct_connect(ring(4), 10**9, 0)).tolist()
    [1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0]
    """
    return load(network, np.ones((network.ranks, network.ranks))).hops


def cdf(values: NDArray[np.float64] | Numbers) -> Iterator[tuple[float, float]]:
    """Yield each distinct value in ascending order, with the fraction of values up to it.

    Examples
    --------
    >>> list(cdf(np.array([2, 1, 2, 5])))
    [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]
    """
    found, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts) / max(counts.sum(), 1)
    yield from zip(found.astype(float).tolist(), below.tolist(), strict=True)
