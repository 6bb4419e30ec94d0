"""How many ports of every server go to all-reduce rings, and how many of these to each group.

Source: W. Wang et al., "TopoOpt", NSDI 2023, Algorithm 1, lines 2 to 10.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple

from topology_gen.errors import ParameterError
from topology_gen.topoopt.demand import Demand


class DegreeSplit(NamedTuple):
    """The rings wanted of each group, by its index, those with most traffic first; and the rest.

    `spare_rings` are rings for all servers that the groups leave of the all-reduce degree, and
    `mp_ports` the ports for matchings.
    """

    rings: dict[int, int]
    spare_rings: int
    mp_ports: int


def ring_ports(members: int, duplex: bool) -> int:
    """Return the ports of a server that a ring takes: two if duplex, but a ring of two is a link.

    Examples
    --------
    >>> ring_ports(12, duplex=True), ring_ports(12, duplex=False), ring_ports(2, duplex=True)
    (2, 1, 1)
    """
    return 2 if duplex and members > 2 else 1


def split_degree(demand: Demand, degree: int, duplex: bool = True) -> DegreeSplit:
    """Divide the degree in proportion to the traffic, rounding up, all-reduces first.

    A group's traffic is 2(k-1)·X, what its ring carries. Groups without traffic get no ring, and
    without any traffic at all, all ports go to rings. At least one ring is there for all servers.

    Parameters
    ----------
    demand : Demand
        The job's transfers.
    degree : int
        Ports of a server.
    duplex : bool
        A ring takes two ports of each of its servers, both ways, rather than one.

    Raises
    ------
    ParameterError
        A degree that is not enough for a ring.

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
    # Whole rings: rounded up, unless there is a port too few for the last.
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
