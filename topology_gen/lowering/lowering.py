"""Turns schedules into algorithms of thread blocks.

Every link gets a thread block that sends at its source and one that receives at its target, or
shares one with the link over which data goes on; see `topology_gen.lowering.fusion`. Parallel links
use different channels. Data that a rank only forwards, and sums that are not finished, lie in the
rank's scratch buffer, so that the input is never overwritten out of place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topology_gen import kernels
from topology_gen.arrays import Numbers
from topology_gen.lowering.algorithm import KINDS, Algorithm, Kind, Table
from topology_gen.lowering.fusion import BUFFERED, Fusion, fuse, pieces
from topology_gen.lowering.layout import (
    INPUT,
    MOST_COUNT,
    OUTPUT,
    SCRATCH,
    WIDTH,
    Layout,
    common_chunks,
)
from topology_gen.schedules.all_reduce import AllReduce
from topology_gen.schedules.schedule import Schedule

SEND, RECEIVE, REDUCE, COPY = (
    KINDS.index(kind) for kind in (Kind.SEND, Kind.RECEIVE, Kind.RECEIVE_REDUCE_COPY, Kind.COPY)
)
COPY_SEND, REDUCE_SEND, REDUCE_COPY_SEND = (
    KINDS.index(kind)
    for kind in (
        Kind.RECEIVE_COPY_SEND,
        Kind.RECEIVE_REDUCE_SEND,
        Kind.RECEIVE_REDUCE_COPY_SEND,
    )
)
OWN, SENDS, RECEIVES, COPIES = range(4)


@dataclass(frozen=True, eq=False)
class Rows:
    """Instructions in an order in which they can be executed, and the sizes of scratch buffers.

    Attributes
    ----------
    rank, kind, count : int64 arrays
        For each instruction, its rank, the code of its kind and its number of chunks.
    move : int64 array
        The move that it belongs to; -1 for a copy of the rank's own data.
    sends : bool array
        Whether it is the send of its move, and not the receive or what follows.
    source, target : int64 arrays
        Its places.
    read, write : int64 arrays
        Its places that have to be written before, and that others have to wait for; -1 if none.
    scratch : int64 array
        For each rank, the size of its scratch buffer in chunks.
    """

    rank: Numbers
    kind: Numbers
    count: Numbers
    move: Numbers
    sends: NDArray[np.bool_]
    source: Numbers
    target: Numbers
    read: Numbers
    write: Numbers
    scratch: Numbers


def rows_of(layout: Layout, fusion: Fusion, ends: Numbers) -> Rows:
    """Return the instructions of a schedule.

    Parameters
    ----------
    layout : Layout
        The moves and their places.
    fusion : Fusion
        Which receives also send.
    ends : array, shape (moves, 2)
        The source and the target of each move.
    """
    moves, copies, step = layout.moves, layout.copies, layout.moves.step
    sends = np.flatnonzero(fusion.before < 0)
    forwards = np.zeros(step.size, np.bool_)
    forwards[fusion.before[fusion.before >= 0]] = True
    reduces = moves.operand >= 0
    # Nobody else reads an unfinished sum that is sent at once.
    passing = reduces & forwards & (moves.target >= SCRATCH * WIDTH)
    source, target, operand, copied, scratch = _compacted(layout, ends, ~passing)
    passed = fusion.before >= 0
    passed[passed] = passing[fusion.before[passed]]
    source = np.where(passed, target, source)
    target = np.where(passing, operand, target)
    kind = np.where(
        reduces,
        np.where(forwards, np.where(passing, REDUCE_SEND, REDUCE_COPY_SEND), REDUCE),
        np.where(forwards, COPY_SEND, RECEIVE),
    )
    who, start, end, size = _own_copies(layout)
    at, number, (here, there) = copies.move, fusion.number, ends.T
    link, move = moves.link, np.arange(step.size)
    columns = _concatenated(
        # For each phase: step, phase, link, number, move; rank, kind; source, target, count;
        # read, write
        (-1, OWN, 0, 0, -1, who, COPY, start, end, size, -1, end),
        (
            step[sends], SENDS, link[sends], number[sends], sends, here[sends], SEND,
            source[sends], target[sends], moves.count[sends], source[sends], -1,
        ),
        (
            step, RECEIVES, link, number, move, there, kind,
            np.where(reduces, operand, source), target, moves.count,
            np.where(reduces, operand, -1), np.where(passing, -1, target),
        ),
        (
            step[at], COPIES, link[at], number[at], at, there[at], COPY,
            copied, copies.target, copies.count, copied, copies.target,
        ),
    )  # fmt: skip
    order = np.lexsort(columns[4::-1])
    _, phase, _, _, move, rank, kind, source, target, count, read, write = (
        column[order] for column in columns
    )
    # Nothing writes to the input, so only other places need an order.
    read = np.where(read >= OUTPUT * WIDTH, read, -1)
    return Rows(rank, kind, count, move, phase == SENDS, source, target, read, write, scratch)


def _concatenated(*phases: tuple[Any, ...]) -> list[Numbers]:
    """Return the columns of all phases, one after the other."""
    parts = (np.broadcast_arrays(*phase) for phase in phases)
    return [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]


def _own_copies(layout: Layout) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return the rank, source, target and count of the copies of ranks' own data."""
    copies: list[tuple[int, ...]] = []
    for rank in range(layout.ranks):
        data = layout.own(rank)
        if data is not None:
            source, target, chunks = data
            for first in range(0, chunks, MOST_COUNT):
                count = min(MOST_COUNT, chunks - first)
                copies.append((rank, source.offset + first, target.offset + first, count))
    rank_, start, end, size = np.array(copies, np.int64).reshape(-1, 4).T
    return rank_, INPUT * WIDTH + start, OUTPUT * WIDTH + end, size


def _compacted(
    layout: Layout, ends: Numbers, stored: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """Return the places without scratch memory in which nothing is stored.

    Parameters
    ----------
    layout : Layout
        The moves and copies.
    ends : array, shape (moves, 2)
        The source and the target of each move.
    stored : array, shape (moves,)
        Whether a move stores what it brings.

    Returns
    -------
    source, target, operand : int64 arrays
        The places of the moves.
    copied : int64 array
        The places from which copies take their data.
    scratch : int64 array
        The sizes of the scratch buffers.
    """
    moves, copies, scratch = layout.moves, layout.copies, layout.scratch
    if stored.all():
        return moves.source, moves.target, moves.operand, copies.source, scratch
    begin = np.concatenate([[0], np.cumsum(scratch)])
    change = np.zeros(int(begin[-1]) + 1, np.int64)
    used = np.flatnonzero(stored & (moves.target >= SCRATCH * WIDTH))
    first = begin[ends[used, 1]] + moves.target[used] % WIDTH
    np.add.at(change, first, 1)
    np.add.at(change, first + moves.count[used], -1)
    new = np.concatenate([[0], np.cumsum(np.cumsum(change)[:-1] > 0)])

    def moved(place: Numbers, rank: Numbers) -> Numbers:
        kept = place < SCRATCH * WIDTH
        at = begin[rank] + np.where(kept, 0, place % WIDTH)
        return np.where(kept, place, SCRATCH * WIDTH + new[at] - new[begin[rank]])

    here, there = ends.T
    return (
        moved(moves.source, here),
        moved(moves.target, there),
        moved(moves.operand, there),
        moved(copies.source, there[copies.move]),
        np.diff(new[begin]),
    )


NOP = KINDS.index(Kind.NOP)


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
    place only.

    Parameters
    ----------
    schedule : Schedule or AllReduce
        A schedule that `topology_gen.schedules.replay.replay` accepts.
    gathers : bool, optional
        Whether an all-gather goes through scratch memory, as `Layout` describes. By default, it
        does if this takes fewer instructions.
    fuses : bool
        Whether receives are fused with the sends that forward their data. Without fused
        instructions, connections need no buffers: an algorithm also completes if every send waits
        for its receive.

    Raises
    ------
    AlgorithmError
        There are more chunks on links than fit into memory.
    """

    def __init__(
        self, schedule: Schedule | AllReduce, gathers: bool | None = None, fuses: bool = True
    ) -> None:
        self._schedule = schedule
        self._layout = _layout(schedule, gathers)
        self._fuses = fuses
        moves, graph = self._layout.moves, schedule.graph
        ends = np.stack([graph.source, graph.target], 1).astype(np.int64)
        self._ends = ends[moves.link]
        self._apart: tuple[Rows, tuple[Numbers, Numbers]] | None = None

    def table(self, channels: int = 1, protocol: str = "Simple", most_bytes: int = 0) -> Table:
        """Return the algorithm as arrays.

        Parameters
        ----------
        channels : int
            Number of thread block pairs for each link. The messages of the link use them in turn.
        protocol : str
            "Simple", "LL" or "LL128".
        most_bytes : int
            The greatest size of the data [bytes], which lets more instructions be fused; 0 means no
            limit.
        """
        layout = self._layout
        ports = _ports(self._schedule, layout, channels)
        fusion = self._fusion(ports, protocol, most_bytes)
        blocks = _blocks(layout, ports, fusion.partner)
        rows, needed = self._ordered(fusion)
        block = _block_of_each(rows, ports, blocks)
        steps, step_begin = _placed(rows, block, find_waits(block, *needed), blocks)
        whole, shard = layout.shards * layout.chunks, layout.chunks
        sizes = np.empty((layout.ranks, 3), np.int64)
        sizes[:, 0] = shard if layout.operation == "all_gather" else whole
        sizes[:, 1] = shard if layout.operation == "reduce_scatter" else whole
        sizes[:, 2] = rows.scratch
        return Table(
            name=f"{layout.operation}_{self._schedule.graph.name}",
            operation=layout.operation,
            chunks=whole,
            in_place=layout.operation != "all_to_all",
            out_of_place=True,
            protocol=protocol,
            least_bytes=0,
            most_bytes=most_bytes,
            root=layout.root,
            sizes=sizes,
            block_begin=blocks.begin,
            blocks=blocks.ends,
            step_begin=step_begin,
            steps=steps,
        )

    def _ordered(self, fusion: Fusion) -> tuple[Rows, tuple[Numbers, Numbers]]:
        """Return the instructions, and which of them must run after which."""
        apart = not (fusion.before >= 0).any()
        if apart and self._apart is not None:
            return self._apart
        rows = rows_of(self._layout, fusion, self._ends)
        ordered = rows, last_writers(rows.rank, rows.read, rows.write, rows.count)
        if apart:  # the same for any number of channels
            self._apart = ordered
        return ordered

    def _fusion(self, ports: _Ports, protocol: str, most_bytes: int) -> Fusion:
        layout = self._layout
        whole = layout.shards * layout.chunks
        size = pieces(layout.moves.count, whole, protocol, most_bytes)
        held = BUFFERED[protocol][0] if self._fuses else 0
        return fuse(layout.moves, ports.of, ports.ends, ports.channel, size, held)


def _layout(schedule: Schedule | AllReduce, gathers: bool | None) -> Layout:
    """Return the layout of a schedule; by default, the one with fewer instructions."""
    chunks = common_chunks(schedule)
    direct = Layout(schedule, chunks)
    if gathers is False or schedule.operation not in ("all_gather", "all_reduce"):
        return direct
    other = direct.through_scratch()

    def size(layout: Layout) -> int:
        return 2 * layout.moves.link.size + layout.copies.move.size

    return other if gathers or size(other) < size(direct) else direct


@dataclass(frozen=True, eq=False)
class _Ports:
    """The links that are used, once for each of their channels.

    Attributes
    ----------
    of : int64 array
        The port of each move; the messages of a link take its ports in turn.
    ends : int64 array, shape (ports, 2)
        The source and the target of each port.
    channel : int64 array
        The channel of each port.
    """

    of: Numbers
    ends: Numbers
    channel: Numbers


def _ports(schedule: Schedule | AllReduce, layout: Layout, channels: int) -> _Ports:
    graph, link = schedule.graph, layout.moves.link
    used, place = np.unique(link, return_inverse=True)
    by_link = np.argsort(place, kind="stable")
    turn = np.empty(link.size, np.int64)
    turn[by_link] = np.arange(link.size) - np.searchsorted(place[by_link], place[by_link])
    used = np.repeat(used, channels)
    ends = np.stack([graph.source[used], graph.target[used]], 1).astype(np.int64)
    # The channels of a pair of ranks are numbered over its parallel links and their turns.
    pair = ends[:, 0] * graph.nodes + ends[:, 1]
    order = np.argsort(pair, kind="stable")
    channel = np.empty_like(pair)
    channel[order] = np.arange(pair.size) - np.searchsorted(pair[order], pair[order])
    return _Ports(place * channels + turn % channels, ends, channel)


@dataclass(frozen=True, eq=False)
class _Blocks:
    """The blocks of all ranks: that of the rank's own copy, then those that send, then the others.

    Attributes
    ----------
    begin : int64 array, shape (ranks+1,)
        Rank r has the blocks begin[r] … begin[r+1]-1.
    ends : int64 array, shape (blocks, 3)
        For each block, the rank that it sends to, the one that it receives from (-1: none), and its
        channel.
    rank : int64 array
        The rank of each block.
    own : int64 array
        For each rank, the block of its own copy, or -1.
    sending, receiving : int64 array
        For each port, the blocks that send and receive.
    """

    begin: Numbers
    ends: Numbers
    rank: Numbers
    own: Numbers
    sending: Numbers
    receiving: Numbers


def _blocks(layout: Layout, ports: _Ports, partner: Numbers) -> _Blocks:
    """Return the blocks; a port that sends shares one with its partner, which receives."""
    owners = np.array([rank for rank in range(layout.ranks) if layout.own(rank)], np.int64)
    (source, target), channel = ports.ends.T, ports.channel
    shared = np.flatnonzero(partner >= 0)
    alone = np.setdiff1d(np.arange(channel.size), partner[shared])
    none = np.full(channel.size, -1)
    rank = np.concatenate([owners, source, target[alone]])
    ends = np.concatenate(
        [
            np.tile([-1, -1, 0], (owners.size, 1)),
            np.stack([target, np.where(partner >= 0, source[partner], -1), channel], 1),
            np.stack([none, source, channel], 1)[alone],
        ]
    )
    by_rank = np.argsort(rank, kind="stable")
    number = np.empty(rank.size, np.int64)
    number[by_rank] = np.arange(rank.size)
    own = np.full(layout.ranks, -1)
    own[owners] = number[: owners.size]
    sending = number[owners.size : owners.size + channel.size]
    receiving = none.copy()
    receiving[alone] = number[owners.size + channel.size :]
    receiving[partner[shared]] = sending[shared]
    begin = np.searchsorted(rank[by_rank], np.arange(layout.ranks + 1))
    return _Blocks(begin, ends[by_rank], rank[by_rank], own, sending, receiving)


def _block_of_each(rows: Rows, ports: _Ports, blocks: _Blocks) -> Numbers:
    """Return the block of each instruction."""
    port = ports.of[rows.move]
    block = np.where(rows.sends, blocks.sending[port], blocks.receiving[port])
    return np.where(rows.move < 0, blocks.own[rows.rank], block)


def _placed(rows: Rows, block: Numbers, waits: Waits, blocks: _Blocks) -> tuple[Numbers, Numbers]:
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


class Waits(NamedTuple):
    """The waits of instructions for instructions of other blocks.

    Attributes
    ----------
    waiting, waited : int64 arrays, shape (waits,)
        The instruction that waits and the one that it waits for, ordered by the former and then by
        the block of the latter.
    turn : int64 array, shape (waits,)
        The number of a wait among those of its instruction.
    number : int64 array, shape (instructions,)
        Number of waits of each instruction.
    awaited : int64 array
        Instructions that others need, including those that a block has waited for before.
    """

    waiting: Numbers
    waited: Numbers
    turn: Numbers
    number: Numbers
    awaited: Numbers


def find_waits(block: Numbers, reader: Numbers, writer: Numbers) -> Waits:
    """Return the waits of instructions for instructions of other blocks.

    Parameters
    ----------
    block : array, shape (instructions,)
        The block of each instruction. A block executes its instructions in order.
    reader, writer : array
        Pairs of instructions, of which the first must run after the second; see `last_writers`.
    """
    other = block[reader] != block[writer]
    reader, writer = reader[other], writer[other]
    # Of the writers in one block, the last one suffices.
    order = np.lexsort((writer, block[writer], reader))
    reader, writer = reader[order], writer[order]
    last = np.ones(reader.size, np.bool_)
    last[:-1] = (reader[1:] != reader[:-1]) | (block[writer[1:]] != block[writer[:-1]])
    reader, writer = reader[last], writer[last]
    awaited = np.unique(writer)
    # A block need not wait again for what it has waited for before.
    order = np.lexsort((reader, block[writer], block[reader]))
    first, second = block[reader[order]], block[writer[order]]
    begins = np.ones(order.size, np.bool_)
    begins[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    group = np.cumsum(begins) * block.size
    greatest = np.maximum.accumulate(group + writer[order]) if order.size else order
    new = begins.copy()
    new[1:] |= greatest[1:] > greatest[:-1]
    kept = np.sort(order[new])
    waiting, waited = reader[kept], writer[kept]
    turn = np.arange(waiting.size) - np.searchsorted(waiting, waiting)
    return Waits(waiting, waited, turn, np.bincount(waiting, minlength=block.size), awaited)


def last_writers(
    rank: Numbers, read: Numbers, write: Numbers, count: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the pairs of an instruction and the last that wrote a place before it reads it.

    Parameters
    ----------
    rank : array, shape (instructions,)
        The rank of each instruction, in an order in which they can be executed.
    read, write : array, shape (instructions,)
        The first place that each instruction reads and writes, or -1.
    count : array, shape (instructions,)
        Number of places.

    Returns
    -------
    reader, writer : int64 arrays
        The pairs, in ascending order.
    """
    return kernels.last_writers(rank, read, write, count, WIDTH)
