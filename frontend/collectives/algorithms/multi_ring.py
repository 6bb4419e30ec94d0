"""Multi-ring: several rings through the same members. Each ring carries an equal part of the data.

This is TopoOpt's all-reduce: 2(k-1) rounds on each of the rings that were selected for a group of k
members. Consecutive members of a ring need not be neighbours in the network. The ranks between them
forward the messages. If a ring goes on by the same number of places at every member, as those of
TopoOpt do, the program is a rotation.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 4.3 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from frontend.collectives.group_rings import group_rings
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Ints, Op
from frontend.collectives.program.rotation import Rotation, Stepped, rotation
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import (
    Algorithm,
    require_numbers,
    require_written,
    rounds_of,
)
from frontend.collectives.setting import Setting
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.totient_perms import ring, select_permutations, totient_perms
from topology_gen.schedules import rings

Orders = Sequence[Sequence[int]]


def logical_rings(group_size: int, orders: Orders | None, duplex: bool) -> Digraph:
    """Return the digraph of the rings: for each order, a link from each member to the next.

    Parameters
    ----------
    group_size : int
        Number of members.
    orders : sequence of sequences of int, optional
        All members in the order of each ring. None for one ring in the order of their numbers.
    duplex : bool
        Whether each ring is used in both directions. Has no effect for two members.

    Raises
    ------
    CollectiveError
        If there are no orders, or an order does not contain every member once.

    Examples
    --------
    >>> logical_rings(4, [[0, 3, 2, 1]], duplex=False).edges()
    [(0, 3), (1, 0), (2, 1), (3, 2)]
    """
    rules = []
    for order in [range(group_size)] if orders is None else orders:
        if sorted(order) != list(range(group_size)):
            raise CollectiveError(
                f"multi_ring: expected each ring to contain each of the {group_size} members once"
            )
        members = np.array(order, dtype=np.int64)
        for step in (-1, 1) if duplex and group_size > 2 else (-1,):
            rule = np.empty_like(members)
            rule[members] = np.roll(members, step)
            rules.append(rule)
    if not rules:
        raise CollectiveError("multi_ring: expected at least one ring")
    return from_rules("rings", group_size, rules)


def _jumps(graph: Digraph, group_size: int) -> Ints:
    """Return by how many places each ring goes on at each member, shape (rings, N)."""
    target = graph.target.reshape(-1, group_size).astype(np.int64)
    jumps: Ints = (target - np.arange(group_size)) % group_size
    return jumps


def _program(
    operation: str,
    group_size: int,
    *,
    orders: Orders | None = None,
    duplex: bool = False,
    dimension: str = "scale_out",
) -> Stepped:
    """Return k-1 rounds of every ring for a reduce-scatter and for an all-gather, or both.

    For the options, see `logical_rings`.
    """
    graph = logical_rings(group_size, orders, duplex)
    jumps = _jumps(graph, group_size)
    if np.all(jumps == jumps[:, :1]):
        return _turned(operation, group_size, jumps[:, 0], dimension)
    return scheduled(
        "multi_ring",
        operation,
        scatter=None if operation == "all_gather" else rings.reduce_scatter(graph),
        gather=None if operation == "reduce_scatter" else rings.all_gather(graph),
        dimension=dimension,
    )


def _turned(operation: str, group_size: int, jumps: Ints, dimension: str) -> Rotation:
    """Return the program of rings that go from member g to member g + jump.

    Its table is the one that `scheduled` makes of the same rings: first the SENDs of all rounds,
    then the receives. Unit s·R + r is the part of shard s that ring r of R carries.
    """
    size, count = group_size, jumps.size
    rounds = np.arange(1, size)[:, None]
    same = jumps[:, None] == jumps
    # Rings with the same jump use parallel links.
    route = np.tile(np.tril(same, -1).sum(axis=1), size - 1)
    op, peer, shard, target, routes, edges = (list[Ints]() for _ in range(6))

    def add_rounds(receive: Op, lag: int) -> tuple[Ints, Ints]:
        """Add rounds in which member 0 sends the shards -(round + lag)·jump."""
        first, messages = sum(part.size for part in op), count * (size - 1)
        sends = first + np.arange(messages)
        for way, kind in ((1, Op.SEND), (-1, receive)):
            op.append(np.full(messages, kind))
            peer.append(np.tile(way * jumps % size, size - 1))
            shard.append((-(rounds + lag + (way < 0)) * jumps % size).ravel())
            target.append(sends + messages if way > 0 else sends)
            routes.append(route if way > 0 else np.zeros_like(route))
        receives = sends + messages
        edges.append(np.column_stack((sends[count:], receives[:-count])))
        return sends, receives

    if operation != "all_gather":
        _, receives = add_rounds(Op.RECV_REDUCE, 0)
        ends = receives[-count:]
    if operation == "all_reduce":
        joins = receives[-1] + 1 + np.arange(count)
        op.append(np.full(count, Op.COPY))
        for column in (peer, shard, routes):
            column.append(np.zeros(count, np.int64))
        target.append(np.arange(count))
        edges.append(np.column_stack((joins, ends)))
    if operation != "reduce_scatter":
        sends, _ = add_rounds(Op.RECV, -1)
    if operation == "all_reduce":
        edges.append(np.column_stack((sends[:count], joins)))
    waits = np.concatenate(edges)
    ring_of = np.arange(sum(part.size for part in op)) % count
    return rotation(
        "multi_ring",
        operation,
        size,
        units=size * count,
        dimension=dimension,
        op=np.concatenate(op),
        peer=np.concatenate(peer),
        offset=np.concatenate(shard) * count + ring_of,
        target=np.concatenate(target),
        edges=waits[np.argsort(waits[:, 0], kind="stable")],
        offset_turn=count,
        target_turn=count,
        route=np.concatenate(routes) if route.any() else (),
    )


def _choose(setting: Setting) -> dict[str, Any]:
    """Return the options: the member order of each ring, and whether rings are duplex."""
    ranks, given = setting.ranks, setting.given.rings
    found = setting.rings
    if found is None and setting.layout.found is not None:
        found = group_rings(ranks, setting.layout.found)
    if given == "auto" and found is not None:
        place = {rank: member for member, rank in enumerate(ranks)}
        orders = [[place[rank] for rank in order] for order in found.orders]
        duplex = found.duplex
    else:
        count, size = 1 if given == "auto" else given, len(ranks)
        strides = select_permutations(totient_perms(size), count, size)
        orders, duplex = [ring(range(size), stride) for stride in strides], False
    return {"dimension": "scale_out", "orders": tuple(map(tuple, orders)), "duplex": duplex}


def _check(setting: Setting) -> None:
    """Accept groups in which the steps of the rings can be numbered, or written if they turn."""
    size, steps = len(setting.ranks), 2 * rounds_of(setting)
    require_numbers(size, steps)  # of one ring
    if size == 1 or (setting.given.rings == "auto" and setting.rings is None):
        return  # only an optimiser would know more rings
    chosen = _choose(setting)
    jumps = _jumps(logical_rings(size, chosen["orders"], chosen["duplex"]), size)
    of_ring = steps + int(setting.operation == "all_reduce")  # and the COPY that joins both parts
    if (jumps == jumps[:, :1]).all():
        require_numbers(size, of_ring * len(jumps))
    else:
        require_written(size * steps * len(jumps))


ALGORITHM = Algorithm(
    "multi_ring",
    "several rings with different orders of the members, each with an equal part of the data",
    {one: partial(_program, one) for one in ("all_reduce", "reduce_scatter", "all_gather")},
    choose=_choose,
    check=_check,
)
