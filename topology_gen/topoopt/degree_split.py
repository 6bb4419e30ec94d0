"""Divides the ports of servers between all-reduce rings of each group and matchings.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1, lines 2 to 10.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

from topology_gen.errors import ParameterError
from topology_gen.topoopt.demand import Demand


class DegreeSplit(NamedTuple):
    """How many rings and matchings the ports of a server are used for.

    `rings` is the number of rings of each group by its index, in descending order of traffic.
    `spare_rings` is the number of rings through all servers in the ports that the groups leave of
    the all-reduce degree. `mp_ports` is the number of ports for matchings.
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
    >>> from topology_gen.topoopt import data_parallel
    >>> split_degree(data_parallel(12), 5)
    DegreeSplit(rings={0: 2}, spare_rings=0, mp_ports=1)
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
    left = all_reduce
    rings: dict[int, int] = {}
    for index in sorted(range(len(traffic)), key=lambda index: -traffic[index]):
        if traffic[index] == 0:
            break
        each = ring_ports(len(demand.groups[index].members), duplex)
        share = max(1, ceil(all_reduce * traffic[index] / reduced))
        count = min(left // each, ceil(Fraction(share, each)))
        if count:
            rings[index] = count
            left -= count * each
    return DegreeSplit(rings, left // unit, degree - all_reduce + left % unit)
