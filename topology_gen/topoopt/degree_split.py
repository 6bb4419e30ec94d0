"""Divides the ports of servers between all-reduce rings of each group and matchings.

Degree is a server's own: groups that share no server do not compete for ports, as a permutation of
TotientPerms serves all groups of a size at once.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1, lines 2 to 10, and Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from heapq import heapify, heappop, heapreplace
from math import ceil
from typing import NamedTuple

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.errors import ParameterError
from topology_gen.topoopt.demand import Demand


class DegreeSplit(NamedTuple):
    """How many rings and matchings the ports of a server are used for.

    `rings` is the number of rings of each group by its index, in descending order of traffic.
    `spare_rings` is the number of rings through all servers, which take the ports for rings if no
    group has traffic. `mp_ports` is the number of ports of every server for matchings.
    """

    rings: dict[int, int]
    spare_rings: int
    mp_ports: int


def ring_ports(members: int, duplex: bool) -> int:
    """Return how many ports of a server a ring uses: 2 if duplex, but 1 for a ring of two servers.

    Examples
    --------
    >>> ring_ports(12, duplex=True), ring_ports(12, duplex=False), ring_ports(2, duplex=True)
    (2, 1, 1)
    """
    return 2 if duplex and members > 2 else 1


def split_degree(demand: Demand, degree: int, duplex: bool = True) -> DegreeSplit:
    """Return how to divide the degree in proportion to the traffic, rounded up for all-reduces.

    A group's traffic is 2(k-1)·X, the bytes that its ring carries. Groups without traffic get no
    ring. Without any traffic, all ports go to rings. All servers get at least one ring.

    The all-reduce degree of a server is divided among the groups that meet there, in proportion to
    what the server sends in each, 2(k-1)/k·X: this is how the paper divides it when each T_k is the
    traffic of all N/k groups of a size. A group gets what its most contended member can give.

    Rounding up for a group leaves the groups after it a ring each. The exception is a group whose
    share is less than half a ring and that another group contains: its transfers take the rings of
    that group. Ports that are left go to the groups, see `more_rings`.

    Parameters
    ----------
    demand : Demand
        The transfers of the job.
    degree : int
        Number of ports of a server.
    duplex : bool
        Whether a ring uses two ports of each of its servers, for both directions, instead of one.

    Raises
    ------
    ParameterError
        The degree is too small for a ring.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel, from_json
    >>> split_degree(data_parallel(12), 5)
    DegreeSplit(rings={0: 2}, spare_rings=0, mp_ports=1)
    >>> halves = [{"members": [0, 1, 2], "bytes": 1}, {"members": [3, 4, 5], "bytes": 1}]
    >>> split_degree(from_json({"nodes": 6, "all_reduce": halves}), 4).rings
    {0: 2, 1: 2}
    """
    unit = ring_ports(demand.nodes, duplex)
    if degree < unit:
        ports = "2 ports of each server" if unit == 2 else "a port of each server"
        raise ParameterError(
            f"degree {degree}: expected at least {unit}, as a ring through {demand.nodes} servers "
            f"takes {ports}"
        )
    traffic = [Fraction(group.traffic) for group in demand.groups]
    reduced = sum(traffic, Fraction(0))
    total = reduced + Fraction(float(demand.mp.sum()))
    wanted = ceil(degree * reduced / total) if total else degree
    # Only whole rings: the number is rounded up, unless a port is missing for the last ring.
    all_reduce = min(unit * ceil(Fraction(max(1, wanted), unit)), degree - degree % unit)
    order = by_traffic(demand)
    claims = _claims(demand, order, all_reduce, duplex)
    left = [all_reduce] * demand.nodes
    kept = [0] * demand.nodes  # ports for a ring of each group that is still to come
    for claim in claims.values():
        for server in claim.members if claim.keeps_ring else ():
            kept[server] += claim.each
    rings: dict[int, int] = {}
    for index, (members, each, share, keeps_ring) in claims.items():
        for server in members if keeps_ring else ():
            kept[server] -= each
        possible = min(left[server] for server in members) // each
        fair = min(left[server] - kept[server] for server in members) // each
        rings[index] = min(ceil(Fraction(ceil(share), each)), possible, max(1, fair))
        for server in members:
            left[server] -= rings[index] * each
    rings = more_rings(demand, rings, np.array(left), dict.fromkeys(order, all_reduce), duplex)
    return DegreeSplit(rings, 0 if rings else all_reduce // unit, degree - all_reduce)


def by_traffic(demand: Demand) -> list[int]:
    """Return the groups with traffic, in descending order of it.

    The members decide between groups with the same traffic, so the order of the groups in the
    demand does not matter.
    """
    busy = [index for index, group in enumerate(demand.groups) if group.traffic]
    return sorted(busy, key=lambda one: (-demand.groups[one].traffic, demand.groups[one].members))


def more_rings(
    demand: Demand, rings: Mapping[int, int], free: Numbers, most: Mapping[int, int], duplex: bool
) -> dict[int, int]:
    """Return the rings of each group after ports that are free went to groups that can use them.

    Each time, the group that has the most bytes for each of its rings gets one more, if all of its
    members have the ports. In the end, no group with fewer than its most rings can have another.

    Parameters
    ----------
    demand : Demand
        The transfers of the job.
    rings : mapping
        Number of rings of groups, by index; 0 if a group is not in it.
    free : int64 array, shape (nodes,)
        Number of free ports of each server.
    most : mapping
        The greatest number of rings of each group with traffic, by index.
    duplex : bool
        As of `split_degree`.

    Returns
    -------
    dict
        The groups with rings, in the order of `by_traffic`.

    Examples
    --------
    >>> from topology_gen.topoopt import data_parallel
    >>> more_rings(data_parallel(3), {0: 1}, np.array([4, 4, 5]), {0: 9}, True)
    {0: 3}
    """
    order = by_traffic(demand)
    found = {index: rings.get(index, 0) for index in order}
    left = free.copy()

    def wish(place: int) -> tuple[Fraction, int]:
        group = demand.groups[order[place]]
        sent = Fraction(group.traffic) / len(group.members)
        return -sent / (found[order[place]] + 1), place

    waiting = [wish(place) for place in range(len(order))]
    heapify(waiting)
    while waiting:
        place = waiting[0][1]
        index = order[place]
        members = list(demand.groups[index].members)
        each = ring_ports(len(members), duplex)
        if found[index] < most[index] and left[members].min() >= each:
            found[index] += 1
            left[members] -= each
            heapreplace(waiting, wish(place))
        else:
            heappop(waiting)
    return {index: count for index, count in found.items() if count}


class _Claim(NamedTuple):
    """What a group asks for: ports of a ring, ports that are its share, and if one ring is kept."""

    members: tuple[int, ...]
    each: int
    share: Fraction
    keeps_ring: bool


def _claims(demand: Demand, order: list[int], all_reduce: int, duplex: bool) -> dict[int, _Claim]:
    """Return the claims of the groups with traffic, in the given order."""
    sent = {  # by each member
        index: Fraction(demand.groups[index].traffic) / len(demand.groups[index].members)
        for index in order
    }
    meeting: list[tuple[int, ...]] = [()] * demand.nodes  # groups at each server, in that order
    for index in order:
        for server in demand.groups[index].members:
            meeting[server] += (index,)
    together = {groups: sum(sent[index] for index in groups) for groups in set(meeting)}
    claims = {}
    for index in order:
        members = demand.groups[index].members
        each = ring_ports(len(members), duplex)
        most = max(together[groups] for groups in {meeting[server] for server in members})
        share = all_reduce * sent[index] / most
        inside = set.intersection(*(set(meeting[server]) for server in members)) - {index}
        claims[index] = _Claim(members, each, share, not inside or 2 * share >= each)
    return claims
