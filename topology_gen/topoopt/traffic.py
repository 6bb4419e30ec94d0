"""Who sends how much to whom: a job's transfers as a matrix, and on the links that carry them.

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
    """Return what the ring all-reduces of a vector send, divided evenly among some rings.

    Over each link of a ring go 2(k-1)/k of its part of the vector.

    Parameters
    ----------
    nodes : int
        Rows and columns.
    orders : sequence of sequences of int
        Servers in the order of each ring, the same ones in all.
    total_bytes : float
        Of the vector.
    duplex : bool
        Every ring goes both ways, with half its part each.

    Raises
    ------
    ParameterError
        No rings.

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
    """Return the bytes from row to column of all transfers of a job.

    All-reduces go round the group's rings in the topology, or without one, or if the group has
    none, round the ring of stride 1, one way.

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
    """What a network carries.

    `link_bytes` is the load of each of `links`, those that leave a rank; `hops` and `pair_bytes`
    are the path length and the bytes of each pair that sends. In a network with switches, a path's
    length counts the ranks that it comes to.
    """

    links: Numbers
    link_bytes: Bytes
    hops: Bytes
    pair_bytes: Bytes

    @property
    def bandwidth_tax(self) -> float:
        """Bytes that ranks send, their own and others', over the bytes of their own; 1 if none."""
        own = float(self.pair_bytes.sum())
        return float(self.link_bytes.sum()) / own if own else 1.0


def load(network: Network, matrix: Bytes, routes: int = 1) -> Load:
    """Return the load that a traffic matrix puts on the links of a network.

    Parameters
    ----------
    network : Network
        Whose paths the bytes take.
    matrix : array, shape (ranks, ranks)
        Bytes from row to column.
    routes : int
        Paths of each pair among which its bytes are divided evenly.

    Raises
    ------
    ParameterError
        A matrix of another size, or no routes.

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
            "and columns, and at least 1"
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
        With a rank for each server.
    demand : Demand
        The transfers.
    topology : TopoOptTopology, optional
        Whose rings the all-reduces take, see `traffic_matrix`. Rings of the same stride, which are
        parallel links, share the bytes.
    routes : int
        Paths among which the bytes of each model-parallel pair are divided evenly.

    Raises
    ------
    ParameterError
        A network of another size, or no routes.
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
    """Return the hops of the first path of every ordered pair of ranks, as `Load.hops`.

    Examples
    --------
    >>> from topology_gen import direct_connect
    >>> from topology_gen.graphs import ring
    >>> path_lengths(direct_connect(ring(4), 10**9, 0)).tolist()
    [1.0, 2.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 2.0, 1.0]
    """
    return load(network, np.ones((network.ranks, network.ranks))).hops


def cdf(values: NDArray[np.float64] | Numbers) -> Iterator[tuple[float, float]]:
    """Yield each distinct value, ascending, and the fraction of values up to it.

    Examples
    --------
    >>> list(cdf(np.array([2, 1, 2, 5])))
    [(1.0, 0.25), (2.0, 0.75), (5.0, 1.0)]
    """
    found, counts = np.unique(values, return_counts=True)
    below = np.cumsum(counts) / max(counts.sum(), 1)
    yield from zip(found.astype(float).tolist(), below.tolist(), strict=True)
