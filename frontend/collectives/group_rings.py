"""The rings that an all-reduce of some servers takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topology_gen.topoopt import TopoOptTopology


class GroupRings(NamedTuple):
    """The servers of a group in the order of each of its rings, all used alike.

    `duplex`: each ring is used both ways.
    """

    orders: tuple[tuple[int, ...], ...]
    duplex: bool


def group_rings(members: Sequence[int], topology: TopoOptTopology | None = None) -> GroupRings:
    """Return the rings of a group: TopoOpt's own, or those that it has parts of.

    In a TopoOpt topology a group takes the rings through just its members. If there are none, it
    takes those through all servers, and passes over who is not in the group: a job's topology is
    fixed while other strategies are looked at. In any other network it takes one ring, by number.

    Parameters
    ----------
    members : sequence of int
        Servers.
    topology : TopoOptTopology, optional
        The topology of the job.

    Examples
    --------
    >>> from topology_gen.topoopt import topology_finder
    >>> from topology_gen.topoopt import data_parallel
    >>> topology = topology_finder(data_parallel(8), 4)
    >>> group_rings([0, 1, 2, 3, 4, 5, 6, 7], topology).orders
    ((0, 1, 2, 3, 4, 5, 6, 7), (0, 3, 6, 1, 4, 7, 2, 5))
    >>> group_rings([1, 2, 4], topology)
    GroupRings(orders=((1, 2, 4), (1, 4, 2)), duplex=True)
    >>> group_rings([4, 2])
    GroupRings(orders=((2, 4),), duplex=False)
    """
    if topology is None:
        return GroupRings((tuple(sorted(members)),), False)
    group = set(members)
    own = [rings.group for rings in topology.rings if set(rings.members) == group]
    orders = [order for index in own for order in topology.orders(index)]
    if not orders:
        orders = [[s for s in order if s in group] for order in topology.spanning_orders]
        orders = [_from(order, min(group)) for order in orders]
    both_ways = topology.duplex and len(group) > 2
    return GroupRings(tuple(tuple(order) for order in orders), both_ways)


def _from(order: list[int], first: int) -> list[int]:
    """Return a ring's order, begun at one of its servers."""
    at = order.index(first)
    return order[at:] + order[:at]
