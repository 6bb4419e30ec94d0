"""TopologyFinder: rings for all-reduces, and matchings for model-parallel transfers.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.graphs.select_permutations import select_permutations
from topology_gen.graphs.totient_perms import totient_perms
from topology_gen.topoopt.connection import connected
from topology_gen.topoopt.degree_split import by_traffic, more_rings, split_degree
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

    Rings go to the all-reduce groups as `split_degree` divides the ports of each server. The ports
    without rings get maximum-weight matchings of the model-parallel transfers, whose two directions
    are added up. Each matching uses one port, and the discount then lowers the weights of its
    pairs. If these links do not connect all servers, `connected` joins the parts. Ports that are
    idle after that go to groups that can use them (`more_rings`).

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
    most = {
        index: degree
        if repeat_rings
        else len(totient_perms(len(demand.groups[index].members), primes_only, duplex))
        for index in by_traffic(demand)
    }
    everyone = tuple(range(demand.nodes))

    def drawn(counts: Mapping[int, int], spanning: int) -> tuple[Rings, ...]:
        groups = ((index, demand.groups[index].members, n) for index, n in counts.items())
        return tuple(
            Rings(group, members, _strides(len(members), n, duplex, primes_only, repeat_rings))
            for group, members, n in (*groups, (None, everyone, spanning))
            if n
        )

    rings = drawn(split.rings, split.spare_rings)
    draft = TopoOptTopology(demand.nodes, degree, duplex, rings, ())
    matchings = match(demand.mp, degree - draft.ports, discount=discount, seed=seed)
    draft = connected(replace(draft, matchings=tuple(matchings)), demand)
    counts = {rings.group: len(rings.strides) for rings in draft.rings}
    spanning = counts.pop(None, 0)
    chosen = {index: count for index, count in counts.items() if index is not None}
    chosen = more_rings(demand, chosen, degree - draft.ports, most, duplex)
    return replace(draft, rings=drawn(chosen, spanning))


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


def _strides(
    size: int, count: int, duplex: bool, primes_only: bool, repeat: bool
) -> tuple[int, ...]:
    """Return the strides of a group's rings."""
    found = select_permutations(totient_perms(size, primes_only, duplex), count, size)
    return tuple(found[index % len(found)] for index in range(count if repeat else len(found)))
