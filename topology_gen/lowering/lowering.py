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
from topology_gen.lowering.waits import Waits, find_waits
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

SEND, RECEIVE, REDUCE, COPY, NOP = (
    KINDS.index(kind)
    for kind in (Kind.SEND, Kind.RECEIVE, Kind.RECEIVE_REDUCE_COPY, Kind.COPY, Kind.NOP)
)


def lower(schedule: Schedule | AllReduce, channels: int = 1, protocol: str = "Simple") -> Algorithm:
    """Return the algorithm that executes a schedule; see `lower_table`.

    Examples
    --------
    >>> from topology_gen.schedules import bfb
    >>> from topology_gen import graphs
    >>> algorithm = lower(bfb.all_gather(graphs.hypercube(8)))
    >>> algorithm.operation, algorithm.ranks, len(algorithm.gpus[0].blocks)
    ('all_gather', 8, 7)
    """
    return lower_table(schedule, channels, protocol).algorithm()


def lower_table(
    schedule: Schedule | AllReduce, channels: int = 1, protocol: str = "Simple"
) -> Table:
    """Return the algorithm that executes a schedule, as arrays.

    The algorithm works in place and out of place, except for an all-to-all, which works out of
    place only. Connections need no buffers: the algorithm also completes if every send waits for
    its receive.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        A schedule that `topology_gen.schedules.replay.replay` accepts.
    channels : int
        Number of thread block pairs for each link. The messages of the link use them in turn.
    protocol : str
        "Simple", "LL" or "LL128".

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory.
    """
    chunks = common_chunks(schedule)
    layout = Layout(schedule, chunks)
    blocks = _blocks(schedule, layout, channels)
    rows = _instructions(layout, blocks, schedule, channels)
    waits = find_waits(rows.block, rows.rank, rows.read, rows.write, rows.count)
    steps, step_begin = _placed(rows, waits, blocks)
    whole, shard = layout.shards * chunks, chunks
    sizes = np.empty((layout.ranks, 3), np.int64)
    sizes[:, 0] = shard if layout.operation == "all_gather" else whole
    sizes[:, 1] = shard if layout.operation == "reduce_scatter" else whole
    sizes[:, 2] = layout.scratch
    return Table(
        name=f"{schedule.operation}_{schedule.graph.name}",
        operation=schedule.operation,
        chunks=whole,
        in_place=schedule.operation != "all_to_all",
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
    """Instructions in an order in which they can be executed; places are -1 if there are none."""

    block: Numbers
    rank: Numbers
    kind: Numbers
    source: Numbers
    target: Numbers
    count: Numbers
    read: Numbers
    write: Numbers


def _instructions(
    layout: Layout, blocks: _Blocks, schedule: Schedule | AllReduce, channels: int
) -> _Rows:
    """Return the copies of own data, then a send and a receive for each move."""
    moves = layout.moves
    by_link = np.argsort(moves.link, kind="stable")
    turn = np.empty(moves.link.size, np.int64)
    ordered = moves.link[by_link]
    turn[by_link] = (np.arange(ordered.size) - np.searchsorted(ordered, ordered)) % channels
    port = moves.link * channels + turn
    copies: list[tuple[int, ...]] = []
    for rank in range(layout.ranks):
        data = layout.own(rank)
        if data is not None:
            source, target, chunks = data
            for first in range(0, chunks, MOST_COUNT):
                count = min(MOST_COUNT, chunks - first)
                ends = source.offset + first, target.offset + first
                copies.append((int(blocks.own[rank]), rank, *ends, count))
    own = np.array(copies, np.int64).reshape(-1, 5).T
    start, end = INPUT * WIDTH + own[2], OUTPUT * WIDTH + own[3]
    none = np.full(port.size, -1)
    reduces = moves.operand >= 0
    graph = schedule.graph

    def both(first: Numbers, second: Numbers) -> Numbers:
        """Return the columns of sends and receives, one after the other."""
        return np.stack([first, second], 1).ravel()

    def all_(copied: Numbers, sends: Numbers, receives: Numbers) -> Numbers:
        return np.concatenate([copied, both(sends, receives)]).astype(np.int64)

    return _Rows(
        block=all_(own[0], blocks.sending[port], blocks.receiving[port]),
        rank=all_(own[1], graph.source[moves.link], graph.target[moves.link]),
        kind=all_(
            np.full(own[0].size, COPY),
            np.full(port.size, SEND),
            np.where(reduces, REDUCE, RECEIVE),
        ),
        source=all_(start, moves.source, np.where(reduces, moves.operand, moves.source)),
        target=all_(end, moves.target, moves.target),
        count=all_(own[4], moves.count, moves.count),
        # What a copy reads and a send's target are not written before.
        read=all_(np.full(own[0].size, -1), moves.source, moves.operand),
        write=all_(end, none, moves.target),
    )


def _placed(rows: _Rows, waits: Waits, blocks: _Blocks) -> tuple[Numbers, Numbers]:
    """Return the table's steps and the first of each block, with nops for additional waits."""
    nops = np.maximum(waits.number - 1, 0)
    order = np.argsort(rows.block, kind="stable")
    ends = np.cumsum((nops + 1)[order])
    row = np.empty(rows.block.size, np.int64)
    row[order] = ends - 1  # of the instruction itself; its nops come before
    total = int(ends[-1]) if ends.size else 0
    begin = np.searchsorted(rows.block[order], np.arange(len(blocks.ends) + 1))
    step_begin = np.concatenate([[0], ends])[begin]
    steps = np.empty((total, 9), np.int64)
    steps[:] = [NOP, INPUT, -1, OUTPUT, -1, 0, -1, -1, 0]
    steps[row, 0] = rows.kind
    steps[row, 1], steps[row, 2] = np.divmod(rows.source, WIDTH)
    steps[row, 3], steps[row, 4] = np.divmod(rows.target, WIDTH)
    steps[row, 5] = rows.count
    # The k-th of an instruction's waits but the last is that of its k-th nop.
    at = row[waits.waiting] - (waits.number[waits.waiting] - 1 - waits.turn)
    block = rows.block[waits.waited]
    steps[at, 6] = block - blocks.begin[blocks.rank[block]]
    steps[at, 7] = row[waits.waited] - step_begin[block]
    steps[row[waits.awaited], 8] = 1
    return steps, step_begin
