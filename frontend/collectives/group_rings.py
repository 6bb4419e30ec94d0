"""Find the rings for an all-reduce over a group of servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from topology_gen.topoopt import TopoOptTopology


class GroupRings(NamedTuple):
    """The rings of a group. Each ring carries an equal part of the data."""

    orders: tuple[tuple[int, ...], ...]
    """Servers of the group in the order of each ring."""
    duplex: bool
    """Whether each ring is used in both directions."""


def group_rings(members: Sequence[int], topology: TopoOptTopology | None = None) -> GroupRings:
    """Return the rings of a group of servers.

    In a TopoOpt topology, a group uses the rings that pass through exactly its members. If there
    are none, it uses the rings through all servers and skips the servers that are not in the group.
    This happens when the strategy search tries other strategies on a fixed topology. In any other
    network, the group uses one ring in the order of its numbers.

    Parameters
    ----------
    members : sequence of int
        Servers of the group.
    topology : TopoOptTopology, optional
        The job's TopoOpt topology; None for any other network.

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
    group = frozenset(members)
    own = topology.groups.get(group, [])
    orders = [order for index in own for order in topology.orders(index)]
    if not orders:
        orders = [[s for s in order if s in group] for order in topology.spanning_orders]
        orders = [_from(order, min(group)) for order in orders]
    both_ways = topology.duplex and len(group) > 2
    return GroupRings(tuple(tuple(order) for order in orders), both_ways)


def _from(order: list[int], first: int) -> list[int]:
    """Rotate the order of a ring so that it starts at server `first`."""
    at = order.index(first)
    return order[at:] + order[:at]
