"""Direct algorithms ("A2A"): every member exchanges data with every other member in one step.

In a reduce-scatter, member j reduces segment j, so each member sends its segment j to member j. In
an all-gather, member j sends its segment to all. With N members and a buffer of D bytes, each
member sends and receives (N-1)/N·D bytes in a reduce-scatter, an all-gather or an all-to-all, and
twice that in an all-reduce.

Source: paper, Table II, "AllToAll (aka A2A)".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from frontend.collectives.algorithms import direct_blocks
from frontend.collectives.algorithms.direct_rooted import broadcast, gather, reduce, scatter
from frontend.collectives.program.blocks import Blocks
from frontend.collectives.program.errors import CollectiveError
from frontend.collectives.program.program import Ints, Op, Program
from frontend.collectives.program.rotation import Rotation, rotation
from frontend.collectives.program.symmetric import symmetric
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
        self, operation: str, group_size: int, moves: npt.ArrayLike = False, **columns: Any
    ) -> Rotation | Program:
        """Return the program of columns with one row for each member, or with that of member 0."""
        if not self.rotated:
            return symmetric("direct", operation, group_size, **columns)
        columns |= {name: columns[name][0] for name in ("peer", "offset", "target")}
        turn = columns["units"] // group_size
        return rotation(
            "direct",
            operation,
            group_size,
            offset_turn=turn,
            target_turn=np.where(moves, turn, 0),
            **columns,
        )


def _one_exchange(
    operation: str, group_size: int, peer_order: str, seed: int, dimension: str
) -> Rotation | Program:
    """Return the program of a single exchange of shards, which one operation adds up."""
    size = group_size
    exchange = _Exchange(size, peer_order, seed, 0)
    own = np.broadcast_to(exchange.own, exchange.order.shape)
    scatter = operation == "reduce_scatter"
    return exchange.program(
        operation,
        size,
        units=size,
        dimension=dimension,
        op=np.repeat([Op.SEND, Op.RECV_REDUCE if scatter else Op.RECV], size - 1),
        peer=exchange.peer,
        offset=np.hstack((exchange.order, own) if scatter else (own, exchange.source)),
        target=exchange.target,
        edges=np.zeros((0, 2), np.int64),
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
        np.arange(2 * first - 1) == join,
        units=size,
        dimension=dimension,
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


def reduce_scatter(
    group_size: int,
    *,
    peer_order: str = "rotated",
    seed: int = 0,
    dimension: str = "scale_out",
) -> Rotation | Program:
    """Return the program in which each member sends segment j to member j, which reduces it."""
    return _one_exchange("reduce_scatter", group_size, peer_order, seed, dimension)


def all_gather(
    group_size: int,
    *,
    peer_order: str = "rotated",
    seed: int = 0,
    dimension: str = "scale_out",
) -> Rotation | Program:
    """Return the program in which each member sends its shard to every other member."""
    return _one_exchange("all_gather", group_size, peer_order, seed, dimension)


def barrier(group_size: int, *, dimension: str = "scale_out") -> Rotation | Program:
    """Return the program in which each member tells every other member that it has arrived."""
    return _one_exchange("barrier", group_size, "rotated", 0, dimension)


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
        order = peer_orders(size, peer_order, seed)
        return direct_blocks.all_to_all(size, blocks, order, dimension)
    exchange = _Exchange(size, peer_order, seed, 0)
    own = exchange.own * routes
    route = np.arange(2 * (size - 1) * routes) % routes  # of each SEND and receive
    taken = np.concatenate(([0], route[: route.size // 2], np.zeros(route.size // 2, np.int64)))

    def every(blocks: Ints) -> Ints:
        return np.repeat(blocks, routes, axis=1) * routes + route[: blocks.shape[1] * routes]

    return exchange.program(
        "all_to_all",
        size,
        True,
        units=size * routes,
        space=2 * size * routes,
        equal_units=True,
        dimension=dimension,
        op=np.concatenate(([Op.COPY], np.repeat([Op.SEND, Op.RECV], (size - 1) * routes))),
        peer=np.hstack((own // routes, np.repeat(exchange.peer, routes, axis=1))),
        offset=np.hstack((own, every(exchange.order), every(size + exchange.source))),
        count=np.concatenate(([routes], np.ones_like(route))),
        target=np.hstack((size * routes + own, 1 + every(exchange.target))),
        edges=np.zeros((0, 2), np.int64),
        route=np.tile(taken, len(own)) if routes > 1 else (),
    )


def order_options(setting: Setting) -> dict[str, Any]:
    """Return the options for the scenario's peer order. Only the random order needs a seed."""
    order = setting.given.peer_order
    return {"peer_order": order} | ({"seed": setting.seed} if order == "random" else {})


def _choose(setting: Setting) -> dict[str, Any]:
    """Return the options: the root where there is one, and otherwise the peer order."""
    options = dimension_and_root(setting)
    if setting.operation in (*ROOTED, "barrier"):
        return options
    options |= order_options(setting)
    if setting.blocks is not None:
        return options | {"blocks": setting.blocks}
    routes = setting.layout.paths if setting.operation == "all_to_all" else 1
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
        "reduce_scatter": reduce_scatter,
        "all_gather": all_gather,
        "all_to_all": all_to_all,
        "broadcast": broadcast,
        "reduce": reduce,
        "gather": gather,
        "scatter": scatter,
        "barrier": barrier,
    },
    choose=_choose,
    check=_check,
)
