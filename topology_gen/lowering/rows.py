"""The instructions of all ranks as rows, in an order in which they can be executed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topology_gen.arrays import Numbers
from topology_gen.lowering.algorithm import Kind
from topology_gen.lowering.fusion import Fusion
from topology_gen.lowering.layout import Layout
from topology_gen.lowering.moves import INPUT, MOST_COUNT, OUTPUT, SCRATCH, WIDTH
from topology_gen.lowering.table import KINDS

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
