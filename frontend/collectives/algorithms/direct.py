"""Direct algorithms ("A2A"): every member exchanges data with every other member in one step.

In a reduce-scatter, member j reduces segment j, so each member sends its segment j to member j. In
an all-gather, member j sends its segment to all. With N members and a buffer of D bytes, each
member sends and receives (N-1)/N·D bytes in a reduce-scatter, an all-gather or an all-to-all, and
twice that in an all-reduce. An all-to-all may have blocks of unequal sizes, as the routing of
experts makes them.

With a root, it sends to every other member, or receives from every other.

Source: paper, Table II, "AllToAll (aka A2A)".
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from frontend.collectives.program.program import (
    Blocks,
    CollectiveError,
    Head,
    Ints,
    Op,
    Program,
    ProgramBuilder,
    assemble,
    block_places,
    block_units,
    known_root,
)
from frontend.collectives.program.rotation import Rotation, rotation, symmetric
from frontend.collectives.registry import (
    ROOTED,
    Algorithm,
    dimension_and_root,
    require_numbers,
    require_written,
    rounds_of,
)
from frontend.collectives.setting import Setting

PEER_ORDERS = ("rotated", "same", "random")


def peer_orders(group_size: int, peer_order: str, seed: int) -> Ints:
    """Return the order in which each member sends to the others, shape (N, N-1).

    Parameters
    ----------
    group_size : int
        Number of members N.
    peer_order : str
        "rotated": member i starts with i+1, so that no two members send to the same peer. "same":
        all members start with member 0, which causes one incast after another. "random": each
        member has its own random permutation.
    seed : int
        Seed of the random permutations.

    Raises
    ------
    CollectiveError
        If `peer_order` has another value.
    """
    member = np.arange(group_size)[:, None]
    turn = np.arange(group_size - 1)
    if peer_order == "rotated":
        return (member + 1 + turn) % group_size
    same = turn + (turn >= member)
    if peer_order == "same":
        return same
    if peer_order == "random":
        return np.random.default_rng(seed).permuted(same, axis=1)
    raise CollectiveError(
        f"peer_order {peer_order!r} is not known; accepted: {', '.join(PEER_ORDERS)}"
    )


class _Exchange:
    """The N-1 SENDs and the N-1 receives of each member, or of member 0 if sends are rotated."""

    def __init__(self, group_size: int, peer_order: str, seed: int, first: int) -> None:
        size = group_size
        self.rotated = peer_order == "rotated"
        turn = np.arange(size - 1)
        if self.rotated:
            self.order, self.own = 1 + turn[None, :], np.zeros((1, 1), np.int64)
            place = turn
        else:
            self.order = peer_orders(size, peer_order, seed)
            self.own = np.arange(size)[:, None]
            places = np.empty((size, size), np.int64)  # index of each peer in a member's order
            np.put_along_axis(places, self.order, np.broadcast_to(turn, self.order.shape), axis=1)
        self.source = (self.own - 1 - turn) % size  # the order in which rotated sends arrive
        if not self.rotated:
            place = places[self.source, self.own]
        self.peer = np.hstack((self.order, self.source))
        self.target = np.hstack((
            first + (size - 1) + (self.order - 1 - self.own) % size,
            first + np.broadcast_to(place, self.source.shape),
        ))  # fmt: skip

    def program(
        self,
        operation: str,
        group_size: int,
        dimension: str,
        *,
        units: int,
        space: int | None = None,
        equal_units: bool = False,
        moves: npt.ArrayLike = False,
        **columns: Any,
    ) -> Rotation | Program:
        """Return the program of columns with one row for each member, or with that of member 0."""
        if not self.rotated:
            head = Head(
                "direct", operation, group_size, units, space or units, equal_units, (dimension,)
            )
            return symmetric(head, **columns)
        columns |= {name: columns[name][0] for name in ("peer", "offset", "target")}
        turn = units // group_size
        return rotation(
            "direct",
            operation,
            group_size,
            units=units,
            space=space,
            equal_units=equal_units,
            dimension=dimension,
            offset_turn=turn,
            target_turn=np.where(moves, turn, 0),
            **columns,
        )


def _one_exchange(
    operation: str,
    group_size: int,
    *,
    peer_order: str = "rotated",
    seed: int = 0,
    dimension: str = "scale_out",
) -> Rotation | Program:
    """Return the program of a single exchange of shards, which a reduce-scatter adds up.

    In a barrier, a shard tells that a member has arrived.
    """
    size = group_size
    exchange = _Exchange(size, peer_order, seed, 0)
    own = np.broadcast_to(exchange.own, exchange.order.shape)
    scatter = operation == "reduce_scatter"
    return exchange.program(
        operation,
        size,
        dimension,
        units=size,
        op=np.repeat([Op.SEND, Op.RECV_REDUCE if scatter else Op.RECV], size - 1),
        peer=exchange.peer,
        offset=np.hstack((exchange.order, own) if scatter else (own, exchange.source)),
        target=exchange.target,
    )


def all_reduce(
    group_size: int,
    *,
    peer_order: str = "rotated",
    seed: int = 0,
    dimension: str = "scale_out",
) -> Rotation | Program:
    """Return a reduce-scatter and an all-gather, each with one exchange between all members.

    A COPY of a member's own segment onto itself joins its N-1 receives. Each of the N-1 following
    SENDs waits only for this step, so the number of dependencies grows with N and not with N².
    """
    size, others = group_size, group_size - 1
    first = 2 * others + 1
    scatter = _Exchange(size, peer_order, seed, 0)
    gather = _Exchange(size, peer_order, seed, first)
    own = np.broadcast_to(scatter.own, scatter.order.shape)
    join = 2 * others
    receives = np.arange(others, join)
    sends = np.arange(first, first + others)
    return scatter.program(
        "all_reduce",
        size,
        dimension,
        units=size,
        moves=np.arange(2 * first - 1) == join,
        op=np.concatenate((
            np.repeat([Op.SEND, Op.RECV_REDUCE], others),
            [Op.COPY],
            np.repeat([Op.SEND, Op.RECV], others),
        )),
        peer=np.hstack((scatter.peer, own[:, :1], gather.peer)),
        offset=np.hstack((scatter.order, own, own[:, :1], own, gather.source)),
        target=np.hstack((scatter.target, own[:, :1], gather.target)),
        edges=np.vstack((
            np.column_stack((np.full(others, join), receives)),
            np.column_stack((sends, np.full(others, join))),
        )),
    )  # fmt: skip


def barrier(group_size: int, *, dimension: str = "scale_out") -> Rotation | Program:
    """Return the program in which each member tells every other member that it has arrived."""
    return _one_exchange("barrier", group_size, dimension=dimension)


def all_to_all(
    group_size: int,
    *,
    peer_order: str = "rotated",
    seed: int = 0,
    routes: int = 1,
    blocks: Blocks | None = None,
    dimension: str = "scale_out",
) -> Rotation | Program:
    """Return the program in which each member sends block j to member j.

    A block is divided evenly among `routes` messages, each with a route of its own. Blocks with
    sizes of their own (`blocks`) take one route each.
    """
    size = group_size
    if blocks is not None:
        return _unequal_blocks(size, blocks, peer_orders(size, peer_order, seed), dimension)
    exchange = _Exchange(size, peer_order, seed, 0)
    own = exchange.own * routes
    route = np.arange(2 * (size - 1) * routes) % routes  # of each SEND and receive
    taken = np.concatenate(([0], route[: route.size // 2], np.zeros(route.size // 2, np.int64)))

    def every(blocks: Ints) -> Ints:
        return np.repeat(blocks, routes, axis=1) * routes + route[: blocks.shape[1] * routes]

    return exchange.program(
        "all_to_all",
        size,
        dimension,
        units=size * routes,
        space=2 * size * routes,
        equal_units=True,
        moves=True,
        op=np.concatenate(([Op.COPY], np.repeat([Op.SEND, Op.RECV], (size - 1) * routes))),
        peer=np.hstack((own // routes, np.repeat(exchange.peer, routes, axis=1))),
        offset=np.hstack((own, every(exchange.order), every(size + exchange.source))),
        count=np.concatenate(([routes], np.ones_like(route))),
        target=np.hstack((size * routes + own, 1 + every(exchange.target))),
        route=np.tile(taken, len(own)) if routes > 1 else (),
    )


def _unequal_blocks(group_size: int, blocks: Blocks, order: Ints, dimension: str) -> Program:
    """Return the program in which member i sends ``blocks[i][j]`` units to member j.

    A member holds the blocks that it sends, and the blocks that it receives, in the order of the
    other members. Empty blocks are not sent.

    Parameters
    ----------
    group_size : int
        Number of members N.
    blocks : Blocks
        N rows of N numbers.
    order : array, shape (N, N-1)
        The order in which each member sends to the others.
    dimension : str
        Network dimension of the program.

    Raises
    ------
    CollectiveError
        If there are not N rows of N numbers.
    """
    table = np.array(blocks, np.int64)
    if table.shape != (group_size, group_size):
        raise CollectiveError(
            f"a matrix of {' × '.join(map(str, table.shape))} blocks: expected {group_size} rows "
            f"of {group_size}, one for each member of the group"
        )
    units = block_units(blocks)
    sent, received = block_places(table)
    received += units
    own = np.flatnonzero(table.diagonal())
    source = np.repeat(np.arange(group_size), group_size - 1)
    target = order.reshape(-1)
    kept = table[source, target] > 0
    source, target = source[kept], target[kept]
    # Receives in the order in which rotated sends arrive.
    arriving = np.lexsort(((target - source) % group_size, target))
    copies, messages = own.size, source.size
    sends = copies + np.arange(messages)
    receives = np.empty(messages, np.int64)
    receives[arriving] = copies + messages + np.arange(messages)
    count = table[source, target]

    def rows(member: Ints, op: Op, peer: Ints, offset: Ints, count: Ints, target: Ints) -> Ints:
        columns = np.broadcast_arrays(member, 0, op, peer, offset, count, target)
        return np.column_stack(columns).astype(np.int64)

    steps = np.vstack((
        rows(own, Op.COPY, own, sent[own, own], table[own, own], received[own, own]),
        rows(source, Op.SEND, target, sent[source, target], count, receives),
        rows(target, Op.RECV, source, received[source, target], count, sends)[arriving],
    ))  # fmt: skip
    head = Head("direct", "all_to_all", group_size, units, 2 * units, False, (dimension,))
    program = assemble(head, steps, np.zeros((0, 2), np.int64))
    return replace(program, blocks=table.astype(np.uint32))


def _rooted(
    operation: Literal["broadcast", "reduce", "gather", "scatter"],
    group_size: int,
    *,
    root: int = 0,
    dimension: str = "scale_out",
) -> Program:
    """Return the program in which the root exchanges a message with every other member.

    In a broadcast and a reduce it has all of the data, in a gather and a scatter the shard of the
    other member.
    """
    known_root(root, group_size)
    shards = operation in ("gather", "scatter")
    builder = ProgramBuilder(
        "direct",
        operation,
        group_size,
        units=group_size if shards else 1,
        dimensions=(dimension,),
        root=root,
    )
    for turn in range(1, group_size):
        other = (root + turn) % group_size
        source, target = (root, other) if operation in ("broadcast", "scatter") else (other, root)
        offset = other if shards else 0
        builder.message(source, target, offset, 1, reduce=operation == "reduce")
    return builder.build()


def order_options(setting: Setting) -> dict[str, Any]:
    """Return the options for the scenario's peer order. Only the random order needs a seed."""
    order = setting.given.peer_order
    return {"peer_order": order} | ({"seed": setting.seed} if order == "random" else {})


def exchange_options(setting: Setting) -> dict[str, Any]:
    """Return the options for the peer order, and for blocks with sizes of their own."""
    blocks = {} if setting.blocks is None else {"blocks": setting.blocks}
    return order_options(setting) | blocks


def _choose(setting: Setting) -> dict[str, Any]:
    """Return the options: the root where there is one, and otherwise the peer order."""
    options = dimension_and_root(setting)
    if setting.operation in (*ROOTED, "barrier"):
        return options
    options |= exchange_options(setting)
    spreads = setting.operation == "all_to_all" and setting.blocks is None
    routes = setting.layout.paths if spreads else 1
    return options | ({"routes": routes} if routes > 1 else {})


def _check(setting: Setting) -> None:
    """Accept groups in which the steps can be numbered, or written if the order is no rotation."""
    if setting.operation in ROOTED:
        return
    options = _choose(setting)
    size, copies = len(setting.ranks), int(setting.operation in ("all_reduce", "all_to_all"))
    steps = copies + 2 * rounds_of(setting) * options.get("routes", 1)
    if options.get("peer_order", "rotated") == "rotated":
        require_numbers(size, steps)
    else:
        require_written(size * steps)


ALGORITHM = Algorithm(
    "direct",
    "every member exchanges data with every other member in one step (A2A)",
    {
        "all_reduce": all_reduce,
        "reduce_scatter": partial(_one_exchange, "reduce_scatter"),
        "all_gather": partial(_one_exchange, "all_gather"),
        "all_to_all": all_to_all,
        "broadcast": partial(_rooted, "broadcast"),
        "reduce": partial(_rooted, "reduce"),
        "gather": partial(_rooted, "gather"),
        "scatter": partial(_rooted, "scatter"),
        "barrier": barrier,
    },
    choose=_choose,
    check=_check,
)
