"""Turns schedules into algorithms of thread blocks.

Every link gets a thread block that sends at its source and one that receives at its target.
Parallel links use different channels. Data that a rank only forwards, and sums that are not
finished, lie in the rank's scratch buffer, so that the input is never overwritten out of place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topology_gen.arrays import Numbers
from topology_gen.lowering.algorithm import Algorithm, Kind
from topology_gen.lowering.layout import (
    INPUT,
    MOST_COUNT,
    OUTPUT,
    WIDTH,
    Layout,
    common_chunks,
)
from topology_gen.lowering.table import KINDS, Table
from topology_gen.lowering.waits import Waits, find_waits, last_writers
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

SEND, RECEIVE, REDUCE, COPY, NOP = (
    KINDS.index(kind)
    for kind in (Kind.SEND, Kind.RECEIVE, Kind.RECEIVE_REDUCE_COPY, Kind.COPY, Kind.NOP)
)


def lower(schedule: Schedule | AllReduce, channels: int = 1, protocol: str = "Simple") -> Algorithm:
    """Return the algorithm that executes a schedule; see `Lowering`.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> algorithm = lower(bfb.all_gather(graphs.hypercube(8)))
    >>> algorithm.operation, algorithm.ranks, len(algorithm.gpus[0].blocks)
    ('all_gather', 8, 7)
    """
    return Lowering(schedule).table(channels, protocol).algorithm()


class Lowering:
    """What the algorithms of a schedule have in common, with any number of channels.

    The algorithms work in place and out of place, except for an all-to-all, which works out of
    place only. Connections need no buffers: an algorithm also completes if every send waits for its
    receive.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        A schedule that `topology_gen.schedules.replay.replay` accepts.

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory.
    """

    def __init__(self, schedule: Schedule | AllReduce) -> None:
        self._schedule = schedule
        self._layout = Layout(schedule, common_chunks(schedule))
        self._rows = _rows(self._layout, schedule)
        rows = self._rows
        self._needed = last_writers(rows.rank, rows.read, rows.write, rows.count)

    def table(self, channels: int = 1, protocol: str = "Simple") -> Table:
        """Return the algorithm as arrays.

        Parameters
        ----------
        channels : int
            Number of thread block pairs for each link. The messages of the link use them in turn.
        protocol : str
            "Simple", "LL" or "LL128".
        """
        layout = self._layout
        blocks = _blocks(self._schedule, layout, channels)
        block = _block_of_each(self._rows, layout, blocks, channels)
        steps, step_begin = _placed(self._rows, block, find_waits(block, *self._needed), blocks)
        whole, shard = layout.shards * layout.chunks, layout.chunks
        sizes = np.empty((layout.ranks, 3), np.int64)
        sizes[:, 0] = shard if layout.operation == "all_gather" else whole
        sizes[:, 1] = shard if layout.operation == "reduce_scatter" else whole
        sizes[:, 2] = layout.scratch
        return Table(
            name=f"{layout.operation}_{self._schedule.graph.name}",
            operation=layout.operation,
            chunks=whole,
            in_place=layout.operation != "all_to_all",
            out_of_place=True,
            protocol=protocol,
            least_bytes=0,
            most_bytes=0,
            root=layout.root,
            sizes=sizes,
            block_begin=blocks.begin,
            blocks=blocks.ends,
            step_begin=step_begin,
            steps=steps,
        )


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The blocks of all ranks: first that of the rank's own copy, then senders, then receivers."""

    begin: Numbers  # shape (ranks+1,)
    ends: Numbers  # shape (blocks, 3): send, receive, channel
    rank: Numbers  # the rank of each block
    own: Numbers  # for each rank, the block of its own copy, or -1
    sending: Numbers  # by link · channels + turn; -1 if the link is not used
    receiving: Numbers


def _blocks(schedule: Schedule | AllReduce, layout: Layout, channels: int) -> _Blocks:
    graph = schedule.graph
    used = np.repeat(np.unique(layout.moves.link), channels)
    turn = np.arange(used.size) % channels
    source, target = graph.source[used].astype(np.int64), graph.target[used].astype(np.int64)
    # The channels of a pair of ranks are numbered over its parallel links and their turns.
    pair = source * graph.nodes + target
    order = np.argsort(pair, kind="stable")
    channel = np.empty_like(pair)
    channel[order] = np.arange(pair.size) - np.searchsorted(pair[order], pair[order])
    owners = np.array([rank for rank in range(graph.nodes) if layout.own(rank)], np.int64)
    none = np.full(used.size, -1)
    rank = np.concatenate([owners, source, target])
    ends = np.concatenate(
        [
            np.tile([-1, -1, 0], (owners.size, 1)),
            np.stack([target, none, channel], 1),
            np.stack([none, source, channel], 1),
        ]
    )
    by_rank = np.argsort(rank, kind="stable")
    number = np.empty(rank.size, np.int64)
    number[by_rank] = np.arange(rank.size)
    own = np.full(graph.nodes, -1)
    own[owners] = number[: owners.size]
    of = np.full((2, graph.links * channels), -1)
    of[:, used * channels + turn] = number[owners.size :].reshape(2, -1)
    begin = np.searchsorted(rank[by_rank], np.arange(graph.nodes + 1))
    return _Blocks(begin, ends[by_rank], rank[by_rank], own, of[0], of[1])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Instructions in an order in which they can be executed; places are -1 if there are none.

    The copies of own data come first, then a send and a receive for each move.
    """

    copies: int
    rank: Numbers
    kind: Numbers
    source: Numbers
    target: Numbers
    count: Numbers
    read: Numbers
    write: Numbers


def _rows(layout: Layout, schedule: Schedule | AllReduce) -> _Rows:
    moves, graph = layout.moves, schedule.graph
    copies: list[tuple[int, ...]] = []
    for rank in range(layout.ranks):
        data = layout.own(rank)
        if data is not None:
            source, target, chunks = data
            for first in range(0, chunks, MOST_COUNT):
                count = min(MOST_COUNT, chunks - first)
                copies.append((rank, source.offset + first, target.offset + first, count))
    own = np.array(copies, np.int64).reshape(-1, 4).T
    start, end = INPUT * WIDTH + own[1], OUTPUT * WIDTH + own[2]
    reduces = moves.operand >= 0
    none = np.full(reduces.size, -1)
    source_rank = graph.source.astype(np.int64)[moves.link]
    target_rank = graph.target.astype(np.int64)[moves.link]

    def all_(copied: Numbers, sends: Numbers, receives: Numbers) -> Numbers:
        return np.concatenate([copied, np.stack([sends, receives], 1).ravel()]).astype(np.int64)

    return _Rows(
        copies=len(copies),
        rank=all_(own[0], source_rank, target_rank),
        kind=all_(
            np.full(len(copies), COPY),
            np.full(reduces.size, SEND),
            np.where(reduces, REDUCE, RECEIVE),
        ),
        source=all_(start, moves.source, np.where(reduces, moves.operand, moves.source)),
        target=all_(end, moves.target, moves.target),
        count=all_(own[3], moves.count, moves.count),
        # Nothing writes to the input, so only other places need an order.
        read=all_(
            np.full(len(copies), -1),
            np.where(moves.source >= OUTPUT * WIDTH, moves.source, -1),
            np.where(moves.operand >= OUTPUT * WIDTH, moves.operand, -1),
        ),
        write=all_(end, none, moves.target),
    )


def _block_of_each(rows: _Rows, layout: Layout, blocks: _Blocks, channels: int) -> Numbers:
    """Return the block of each instruction; the messages of a link take its channels in turn."""
    link = layout.moves.link
    by_link = np.argsort(link, kind="stable")
    turn = np.empty(link.size, np.int64)
    turn[by_link] = np.arange(link.size) - np.searchsorted(link[by_link], link[by_link])
    port = link * channels + turn % channels
    pairs = np.stack([blocks.sending[port], blocks.receiving[port]], 1).ravel()
    return np.concatenate([blocks.own[rows.rank[: rows.copies]], pairs])


def _placed(rows: _Rows, block: Numbers, waits: Waits, blocks: _Blocks) -> tuple[Numbers, Numbers]:
    """Return the table's steps and the first of each block, with nops for additional waits."""
    nops = np.maximum(waits.number - 1, 0)
    order = np.argsort(block, kind="stable")
    ends = np.cumsum((nops + 1)[order])
    row = np.empty(block.size, np.int64)
    row[order] = ends - 1  # of the instruction itself; its nops come before
    total = int(ends[-1]) if ends.size else 0
    begin = np.searchsorted(block[order], np.arange(len(blocks.ends) + 1))
    step_begin = np.concatenate([[0], ends])[begin]
    steps = np.empty((total, 9), np.int64)
    steps[:] = [NOP, INPUT, -1, OUTPUT, -1, 0, -1, -1, 0]
    steps[row, 0] = rows.kind
    steps[row, 1], steps[row, 2] = np.divmod(rows.source, WIDTH)
    steps[row, 3], steps[row, 4] = np.divmod(rows.target, WIDTH)
    steps[row, 5] = rows.count
    # The k-th of an instruction's waits but the last is that of its k-th nop.
    at = row[waits.waiting] - (waits.number[waits.waiting] - 1 - waits.turn)
    other = block[waits.waited]
    steps[at, 6] = other - blocks.begin[blocks.rank[other]]
    steps[at, 7] = row[waits.waited] - step_begin[other]
    steps[row[waits.awaited], 8] = 1
    return steps, step_begin
