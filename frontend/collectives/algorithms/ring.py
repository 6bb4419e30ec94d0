"""Ring algorithms: each member sends only to the next one.

With N members and a buffer of D bytes, each member sends and receives (N-1)/N·D bytes in a
reduce-scatter or an all-gather, and twice that in an all-reduce, which is optimal. An all-to-all
relays blocks of D/N bytes. It moves N(N-1)/2 of them over each hop; a direct exchange moves N-1.

`relay` is an all-to-all that relays each block on its own, as ASTRA-sim's ring does: blocks for the
member k places away take k hops. First all blocks of distance 1 move, then those of distance 2, and
so on. A member sends a block when it has received the one before, so it sends N(N-1)/2 messages of
one block, one after the other, where the all-to-all of `ring` sends N-1 bundles.

A broadcast and a reduce run along a chain of all members, pipelined in segments. With S segments,
the last one passes N-1 hops after S-1 others. Every member but one sends the D bytes once, so a
long chain costs latency and no bandwidth.

Source: P. Patarasu, X. Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
workstations", J. Parallel Distrib. Comput. 69 (2009); NCCL's broadcast and reduce by the ring
algorithm.

Multi-ring: several rings through the same members. Each ring carries an equal part of the data.
This is TopoOpt's all-reduce: 2(k-1) rounds on each of the rings that were selected for a group of k
members. Consecutive members of a ring need not be neighbours in the network. The ranks between them
forward the messages. If a ring goes on by the same number of places at every member, as those of
TopoOpt do, the program is a rotation.

Source: W. Wang et al., "TopoOpt", NSDI 2023, sections 4.3 and 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from frontend.collectives.group_rings import group_rings
from frontend.collectives.program.program import (
    CollectiveError,
    Ints,
    Op,
    Program,
    ProgramBuilder,
    known_root,
)
from frontend.collectives.program.rotation import Rotation, Stepped, edge_list, rotation
from frontend.collectives.program.scheduled import scheduled
from frontend.collectives.registry import (
    MOST_BUILT_STEPS,
    ROOTED,
    Algorithm,
    dimension_and_root,
    require_numbers,
    require_written,
    rounds_of,
    segments_of,
)
from frontend.collectives.setting import Setting
from topology_gen.graphs.digraph import Digraph, from_rules
from topology_gen.graphs.totient_perms import ring, select_permutations, totient_perms
from topology_gen.schedules import rings


def _ring(operation: str, group_size: int, rounds: range, dimension: str) -> Rotation:
    """Return some of the rounds 0 … 2N-3: the first N-1 rounds reduce, the others gather.

    In round k, member i sends shard i-k-1 to the next member and receives shard i-k-2. After round
    N-2, member i owns shard i, and the gather continues with the same formula.
    """
    size, steps = group_size, 2 * len(rounds)
    k = np.repeat(np.array(rounds, np.int64), 2)
    receives = np.arange(steps) % 2
    reduces = k < size - 1
    op = np.where(receives == 0, Op.SEND, np.where(reduces, Op.RECV_REDUCE, Op.RECV))
    return rotation(
        "ring",
        operation,
        size,
        units=size,
        dimension=dimension,
        op=op,
        peer=np.where(receives, size - 1, 1),
        offset=(-k - 1 - receives) % size,
        target=np.arange(steps) ^ 1,  # a SEND's partner is the next step of the list
        # A round sends the shard that the previous round received.
        edges=np.array([(s, s - 1) for s in range(2, steps, 2)], np.int64).reshape(-1, 2),
    )


def all_reduce(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return 2(N-1) rounds: a reduce-scatter and an all-gather, without a barrier in between."""
    return _ring("all_reduce", group_size, range(2 * (group_size - 1)), dimension)


def reduce_scatter(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return N-1 rounds; afterwards member g has the sum of shard g."""
    return _ring("reduce_scatter", group_size, range(group_size - 1), dimension)


def all_gather(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return N-1 rounds; each round moves every shard to the next member."""
    return _ring("all_gather", group_size, range(group_size - 1, 2 * (group_size - 1)), dimension)


def all_to_all(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return N-1 rounds that relay blocks along the ring; each member sends N-r blocks in round r.

    A message has blocks of one source, nearest destination first. Its receiver keeps the first
    block and forwards the others. In total, each member sends N(N-1)/2 blocks.
    """
    size = group_size
    rounds = np.arange(1, size)
    blocks = size - rounds  # blocks in the message of each round
    packed = 2 * size
    arrived = packed + (size - 1) + np.concatenate(([0], np.cumsum(blocks)[:-1]))

    # COPY of the own block, COPY steps that pack by distance, then per round: SEND, RECV, and COPY
    # of the block for this member.
    packs = size - 1
    first = 1 + packs
    op = np.concatenate((
        np.full(first, Op.COPY),
        np.tile(np.array([Op.SEND, Op.RECV, Op.COPY]), size - 1),
    ))  # fmt: skip
    steps = op.size
    offset = np.arange(steps)
    target = np.full(steps, size)
    count = np.ones(steps, np.int64)
    target[1:first] = packed + np.arange(packs)
    send, receive, keep = (slice(first + i, None, 3) for i in range(3))
    count[send] = count[receive] = blocks
    offset[send] = np.concatenate(([packed], arrived[:-1] + 1))
    offset[receive] = offset[keep] = arrived
    target[send] = np.arange(steps)[receive]
    target[receive] = np.arange(steps)[send]
    target[keep] = size + blocks
    peer = np.ones(steps, np.int64)
    peer[receive] = size - 1

    edges = [(first, pack) for pack in range(1, first)]
    for step in range(first, steps, 3):
        edges.append((step + 2, step + 1))
        if step > first:
            edges.append((step, step - 2))
    return rotation(
        "ring",
        "all_to_all",
        size,
        units=size,
        space=int(arrived[-1] + 1),
        equal_units=True,
        dimension=dimension,
        op=op,
        peer=peer,
        offset=offset,
        count=count,
        target=target,
        edges=edge_list(edges),
        offset_turn=np.arange(steps) < first,
        target_turn=target < packed,
    )


def _chain(
    operation: str,
    group_size: int,
    *,
    root: int = 0,
    segments: int = 16,
    dimension: str = "scale_out",
) -> Program:
    """Return a chain in which each member passes on what it has received, or adds its data to it.

    A broadcast starts at the root, and a reduce ends there.
    """
    known_root(root, group_size)
    reduces = operation == "reduce"
    first = root + 1 if reduces else root
    chain = [(first + hop) % group_size for hop in range(group_size)]
    builder = ProgramBuilder(
        "ring", operation, group_size, units=segments, dimensions=(dimension,), root=root
    )
    for segment in range(segments):
        received: list[int] = []
        for source, target in pairwise(chain):
            _, receive = builder.message(source, target, segment, 1, reduce=reduces, after=received)
            received = [receive]
    return builder.build()


def _choose(setting: Setting) -> dict[str, Any]:
    """Return the options: a broadcast or reduce also has the number of segments."""
    options = dimension_and_root(setting)
    if setting.operation not in ROOTED:
        return options
    segments = segments_of(
        setting.given.segments,
        setting.chunks,
        setting.chunk_bytes,
        trees=1,
        filling=len(setting.ranks) - 2,
    )
    return options | {"segments": segments}


def _check(setting: Setting) -> None:
    """Accept groups in which the steps can be numbered; those of a chain are written."""
    size, rounds = len(setting.ranks), rounds_of(setting)
    if setting.operation in ROOTED:
        segments = _choose(setting)["segments"]
        require_written(2 * rounds * segments, MOST_BUILT_STEPS, segments)
    elif setting.operation == "all_to_all":
        require_numbers(size, 1 + 4 * rounds)  # and a COPY of each block to pack and to keep it
    else:
        require_numbers(size, 2 * rounds)


RING = Algorithm(
    "ring",
    "each member sends only to the next one",
    {
        "all_reduce": all_reduce,
        "reduce_scatter": reduce_scatter,
        "all_gather": all_gather,
        "all_to_all": all_to_all,
        "broadcast": partial(_chain, "broadcast"),
        "reduce": partial(_chain, "reduce"),
    },
    choose=_choose,
    check=_check,
)


def relay(group_size: int, *, dimension: str = "scale_out") -> Rotation:
    """Return N(N-1)/2 rounds, in each of which every member sends one block to the next one."""
    size = group_size
    distance = np.repeat(np.arange(1, size), np.arange(1, size))
    hop = np.concatenate([np.arange(k) for k in range(1, size)])
    rounds = distance.size
    steps = 1 + 2 * rounds  # the copy of the own block, then a SEND and a RECV for each round
    last = hop == distance - 1
    relayed = 2 * size + np.cumsum(~last) - 1  # where a block that goes on waits
    arrived = np.where(last, size + size - distance, relayed)

    op = np.concatenate(([Op.COPY], np.tile([Op.SEND, Op.RECV], rounds)))
    offset, target = np.zeros(steps, np.int64), np.arange(steps)
    target[0] = size
    own = hop == 0
    offset[1::2] = np.where(own, distance, np.concatenate(([0], arrived[:-1])))
    offset[2::2] = arrived
    target[1::2], target[2::2] = np.arange(2, steps, 2), np.arange(1, steps, 2)
    peer = np.ones(steps, np.int64)
    peer[2::2] = size - 1
    turn = np.zeros(steps, bool)  # blocks of the own data, and of the output, by source
    turn[0] = True
    turn[1::2] = own
    turn[2::2] = last
    return rotation(
        "relay",
        "all_to_all",
        size,
        units=size,
        space=int(max(relayed[-1] + 1, 2 * size)),
        equal_units=True,
        dimension=dimension,
        op=op,
        peer=peer,
        offset=offset,
        count=np.ones(steps, np.int64),
        target=target,
        edges=edge_list([(s, s - 1) for s in range(3, steps, 2)]),
        offset_turn=turn,
        target_turn=np.arange(steps) == 0,
    )


def _check_relay(setting: Setting) -> None:
    """Accept groups in which the N(N-1)/2 rounds can be numbered: a SEND and a RECV in each."""
    size = len(setting.ranks)
    require_numbers(size, 1 + size * (size - 1))


RELAY = Algorithm(
    "relay",
    "a ring that relays each block on its own, as ASTRA-sim's ring all-to-all",
    {"all_to_all": relay},
    check=_check_relay,
)


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


def _choose_rings(setting: Setting) -> dict[str, Any]:
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


def _check_rings(setting: Setting) -> None:
    """Accept groups in which the steps of the rings can be numbered, or written if they turn."""
    size, steps = len(setting.ranks), 2 * rounds_of(setting)
    require_numbers(size, steps)  # of one ring
    if size == 1 or (setting.given.rings == "auto" and setting.rings is None):
        return  # only an optimiser would know more rings
    chosen = _choose_rings(setting)
    jumps = _jumps(logical_rings(size, chosen["orders"], chosen["duplex"]), size)
    of_ring = steps + int(setting.operation == "all_reduce")  # and the COPY that joins both parts
    if (jumps == jumps[:, :1]).all():
        require_numbers(size, of_ring * len(jumps))
    else:
        require_written(size * steps * len(jumps))


MULTI_RING = Algorithm(
    "multi_ring",
    "several rings with different orders of the members, each with an equal part of the data",
    {one: partial(_program, one) for one in ("all_reduce", "reduce_scatter", "all_gather")},
    choose=_choose_rings,
    check=_check_rings,
)
