"""TopologyFinder: rings for all-reduces, and matchings for model-parallel transfers.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.graphs.select_permutations import select_permutations
from topology_gen.graphs.totient_perms import totient_perms
from topology_gen.topoopt.degree_split import ring_ports, split_degree
from topology_gen.topoopt.demand import Demand
from topology_gen.topoopt.discount import gain
from topology_gen.topoopt.matchings import heaviest_matching
from topology_gen.topoopt.topology import Rings, TopoOptTopology


def topology_finder(
    demand: Demand,
    degree: int,
    *,
    duplex: bool = True,
    primes_only: bool = False,
    repeat_rings: bool = True,
    discount: str = "exponential",
    seed: int = 1,
) -> TopoOptTopology:
    """Return the topology that suits a job's transfers.

    Rings go to the all-reduce groups as `split_degree` divides the ports of each server. If these
    rings do not connect all servers, one more ring goes through all of them. It uses idle ports
    first, then ports of groups with several rings, then ports of matchings, and last the ports of a
    group's only ring. The ports without rings get maximum-weight matchings of the model-parallel
    transfers, whose two directions are added up. Each matching uses one port, and the discount then
    lowers the weights of its pairs.

    Parameters
    ----------
    demand : Demand
        The transfers of at least 2 servers. Without traffic, all ports go to rings through all
        servers.
    degree : int
        Number of ports of a server.
    duplex : bool
        Whether a ring has links in both directions and uses two ports of each of its servers, as
        with optical transceivers. Otherwise a ring is directed and uses one port.
    primes_only : bool
        Whether to use only rings whose strides are 1 or prime.
    repeat_rings : bool
        Whether to repeat rings if a group has fewer different rings than ports for them. Otherwise
        matchings get the ports.
    discount : str
        One of `topology_gen.topoopt.GAINS`.
    seed : int
        Seed of the choice between equally heavy matchings.

    Raises
    ------
    ParameterError
        The degree is too small for a ring, or the discount is unknown.

    See Also
    --------
    data_parallel, ocs_reconfig

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> topology = topology_finder(data_parallel(128), 4)
    >>> topology.coins, topology.graph.diameter
    ([1, 11], 9)
    """
    gain(discount, 1)  # raises if the discount is unknown, even if there is nothing to match
    split = split_degree(demand, degree, duplex)
    everyone = tuple(range(demand.nodes))
    chosen: list[Rings] = []
    for index, count in split.rings.items():
        members = demand.groups[index].members
        strides = _strides(len(members), count, duplex, primes_only, repeat_rings)
        chosen.append(Rings(index, members, strides))
    if split.spare_rings:
        strides = _strides(demand.nodes, split.spare_rings, duplex, primes_only, repeat_rings)
        chosen.append(Rings(None, everyone, strides))
    elif not _connect(chosen, demand.nodes):
        chosen = _with_room(chosen, demand.nodes, degree, split.mp_ports, duplex)
        chosen.append(Rings(None, everyone, (1,)))
    rings = TopoOptTopology(demand.nodes, degree, duplex, tuple(chosen), ())
    matchings = match(demand.mp, degree - rings.ports, discount=discount, seed=seed)
    return replace(rings, matchings=tuple(matchings))


def match(
    transfers: NDArray[np.float64],
    rounds: int | Numbers,
    *,
    discount: str = "exponential",
    seed: int = 1,
) -> list[NDArray[np.int64]]:
    """Return successive maximum-weight matchings; the pairs of a matching weigh less in the next.

    There are fewer matchings than rounds if nothing is left to match.

    Parameters
    ----------
    transfers : array, shape (n, n)
        Bytes from each server (row) to each other (column).
    rounds : int, or int64 array, shape (n,)
        Number of ports for matchings, at least 0, of every server or of each.
    discount : str
        One of `topology_gen.topoopt.GAINS`.
    seed : int
        Seed of the choice between equally heavy matchings.

    Raises
    ------
    ParameterError
        `rounds` is negative, or the discount is unknown.

    Examples
    --------
    >>> match(np.array([[0, 4, 0], [4, 0, 3], [0, 0, 0]]), 2)
    [array([[0, 1]]), array([[0, 1]])]
    """
    ports = np.broadcast_to(rounds, len(transfers))
    if ports.min(initial=0) < 0:
        raise ParameterError(f"{ports.min()} matchings: expected at least 0")
    weights = transfers + transfers.T
    linked: Counter[tuple[int, int]] = Counter()
    left = weights.copy()
    result = []
    for turn in range(int(ports.max(initial=0))):
        free = ports > turn
        pairs = heaviest_matching(np.where(np.outer(free, free), left, 0), seed + turn)
        if not len(pairs):
            break
        result.append(pairs)
        for a, b in pairs.tolist():
            linked[a, b] += 1
            left[a, b] = left[b, a] = weights[a, b] * float(gain(discount, linked[a, b] + 1))
    return result


def _connect(chosen: list[Rings], nodes: int) -> bool:
    """Return whether rings lead from each server to all others, over servers that rings share."""
    import networkx as nx

    joined: nx.Graph[int] = nx.Graph()
    joined.add_nodes_from(range(nodes))
    for rings in chosen:
        nx.add_path(joined, rings.members)
    return bool(nx.is_connected(joined))


def _strides(
    size: int, count: int, duplex: bool, primes_only: bool, repeat: bool
) -> tuple[int, ...]:
    """Return the strides of a group's rings."""
    found = select_permutations(totient_perms(size, primes_only, duplex), count, size)
    return tuple(found[index % len(found)] for index in range(count if repeat else len(found)))


def _with_room(
    chosen: list[Rings], nodes: int, degree: int, mp_ports: int, duplex: bool
) -> list[Rings]:
    """Return the rings that are left if each server has the ports of a ring through all of them.

    Only groups whose servers lack ports give rings up, the last chosen first. A group's only ring
    is given up after the ports for matchings.
    """
    needed = ring_ports(nodes, duplex)
    result = list(chosen)
    used = TopoOptTopology(nodes, degree, duplex, tuple(chosen), ()).ports
    for reserved, fewest in ((mp_ports, 1), (0, 1), (0, 0)):
        for place in reversed(range(len(result))):
            group, members, strides = result[place]
            servers = list(members)
            while len(strides) > fewest and used[servers].max() > degree - reserved - needed:
                strides = strides[:-1]
                used[servers] -= ring_ports(len(members), duplex)
            result[place] = Rings(group, members, strides)
    return [rings for rings in result if rings.strides]
